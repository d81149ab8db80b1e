package dial_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCON01IPv6AddressesStandInBrackets(t *testing.T) {
	t.Parallel()
	for text, addr := range map[string]string{
		"iggy://u:p@[::1]:8090":            "tcp://[::1]:8090",
		"iggy+ws://u:p@[2001:db8::1]:8092": "ws://[2001:db8::1]:8092/",
		"iggy+quic://u:p@[fe80::1%lo]:8":   "quic://[fe80::1%lo]:8",
	} {
		c, err := dial.Parse(text)
		require.NoError(t, err)
		require.NotContains(t, c.Host, "[")
		d, err := c.Dialer()
		require.NoError(t, err)
		require.Equal(t, addr, d.Addr())
	}
	for text, part := range map[string]string{
		"iggy://u:p@::1:8090":         "host",
		"iggy://u:p@[::1]":            "port",
		"iggy://u:p@[::1]8090":        "host",
		"iggy://u:p@[::1:8090":        "host",
		"iggy://u:p@[localhost]:8090": "host",
		"iggy://u:p@[127.0.0.1]:8090": "host",
	} {
		requirePart(t, text, part)
	}
	_, err := dial.Parse("iggy://u:p@::1:8090")
	require.ErrorContains(t, err, "an IPv6 address stands in brackets")
}

// requirePart parses a text that breaks a rule for a part.
func requirePart(t *testing.T, text, part string) {
	t.Helper()
	_, err := dial.Parse(text)
	var e *dial.ParseError
	require.ErrorAs(t, err, &e, text)
	require.Equal(t, part, e.Part, "%s: %v", text, err)
}

func TestCON02CredentialsAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	c, err := dial.Parse("iggy://u:p%40w@h:8090")
	require.NoError(t, err)
	require.Equal(t, "u", c.Credentials.Username)
	require.Equal(t, "p%40w", c.Credentials.Password.Reveal())
	require.True(t, c.Credentials.Token.Empty())

	for text, rule := range map[string]string{
		"iggy://u:s3cr3t@w0rd@h:8090":  "one @ in all",
		"iggy://u:s3cr3t:w0rd@h:8090":  "one colon",
		"iggy://u:s3cr3t?w0rd@h:8090":  "no ? in them",
		"iggy://u:@h:8090":             "neither the user nor the password is empty",
		"iggy://:s3cr3t@h:8090":        "neither the user nor the password is empty",
		"iggy://@h:8090":               "stands before the host",
		"iggy://h:8090":                "stands before the host",
		"iggy://:@h:8090":              "neither the user nor the password is empty",
		"iggy://u:s3cr3t@w0rd:w0rd@h:": "one @ in all",
	} {
		_, err := dial.Parse(text)
		var e *dial.ParseError
		require.ErrorAs(t, err, &e, text)
		require.Equal(t, "credentials", e.Part, text)
		require.Contains(t, e.Rule, rule)
		require.Contains(t, e.Rule, "token", "the rule points to another way")
		require.NotContains(t, err.Error(), "s3cr3t")
		require.NotContains(t, err.Error(), "w0rd")
	}
	for _, text := range []string{"iggy://u:s3cr3t@w0rd@h:8090", "iggy://u:s3cr3t:w0rd@h:8090", "iggy://u:s3cr3t?w0rd@h:8090"} {
		_, err := dial.Parse(text)
		require.ErrorContains(t, err, "Config.Credentials")
	}
}

func TestCON03TokensAreTakenByteForByte(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"aGVsbG8+d29ybGQ/eHl6==", "iggypat-aGVsbG8+d29ybGQ/eHl6==", "a%20b", "/"} {
		c, err := dial.Parse("iggy://" + token + "@127.0.0.1:8090")
		require.NoError(t, err)
		require.Equal(t, token, c.Credentials.Token.Reveal())
		require.Empty(t, c.Credentials.Username)
		require.True(t, c.Credentials.Password.Empty())
	}
}

func TestSchemeNamesTheProtocol(t *testing.T) {
	t.Parallel()
	for scheme, protocol := range map[string]dial.Protocol{
		"iggy": dial.TCP, "iggy+tcp": dial.TCP, "iggy+quic": dial.QUIC, "iggy+ws": dial.WebSocket, "iggy+http": dial.HTTP,
	} {
		c, err := dial.Parse(scheme + "://u:p@h:1")
		require.NoError(t, err)
		require.Equal(t, protocol, c.Protocol)
	}
	for _, text := range []string{"", "iggy", "://u:p@h:1", "IGGY://u:p@h:1", "iggy+udp://u:p@h:1", "http://u:p@h:1", "u:p@h:1", "iggy://u:p@h:1?a=://"} {
		requirePart(t, text, "scheme")
	}
}

func TestHostAndPortAreRequired(t *testing.T) {
	t.Parallel()
	for text, part := range map[string]string{
		"iggy://u:p@":             "port",
		"iggy://u:p@h":            "port",
		"iggy://u:p@h:":           "port",
		"iggy://u:p@h:0":          "port",
		"iggy://u:p@h:65536":      "port",
		"iggy://u:p@h:+1":         "port",
		"iggy://u:p@h:1/":         "port",
		"iggy://u:p@:1":           "host",
		"iggy://u:p@h/x:1":        "host",
		"iggy://u:p@h h:1":        "host",
		"iggy://u:p@h?tls=true":   "port",
		"iggy://u:p@h:1?a=b?c=d":  "options",
		"iggy://u:p@h:1?":         "options",
		"iggy://u:p@h:1?tls":      "options",
		"iggy://u:p@h:1?&":        "options",
		"iggy://u:p@h:1?x=1":      "options",
		"iggy://u:p@h:1?TLS=true": "options",
	} {
		requirePart(t, text, part)
	}
	c, err := dial.Parse("iggy://u:p@my_server-1.example:65535")
	require.NoError(t, err)
	require.Equal(t, "my_server-1.example:65535", c.Addr())
}

func TestDefaultsAreThoseOfOtherClients(t *testing.T) {
	t.Parallel()
	common := dial.Config{
		Host: "h", Port: 1, Heartbeat: 5 * time.Second,
		Credentials: dial.Credentials{Username: "u", Password: dial.NewSecret("p")},
		Reconnect:   dial.Reconnect{Retries: dial.Unlimited, Interval: time.Second, ReestablishAfter: 5 * time.Second},
		Pending:     dial.Pending{Operations: 256, Bytes: 64 << 20},
	}
	tcp, ws, quic := common, common, common
	tcp.Protocol, ws.Protocol, quic.Protocol = dial.TCP, dial.WebSocket, dial.QUIC
	quic.TLS = &transport.TLS{SkipVerify: true}
	quic.QUIC = dial.QUICConfig{KeepAlive: 5 * time.Second, MaxSilence: 10 * time.Second, InitialMTU: 1200, ReceiveWindowBytes: 100_000}
	quic.Limits.MaxReplyBytes = 64_156_564
	http := dial.Config{Protocol: dial.HTTP, Host: "h", Port: 1, Heartbeat: 5 * time.Second, Retries: 3, Credentials: common.Credentials}
	for _, want := range []dial.Config{tcp, ws, quic, http} {
		got, err := dial.Parse("iggy+" + string(want.Protocol) + "://u:p@h:1")
		require.NoError(t, err)
		require.Equal(t, want.Protocol, got.Protocol)
		require.True(t, got.Credentials.Password.Reveal() == "p")
		require.EqualExportedValues(t, want, got)
	}
}

func TestEveryOptionIsRead(t *testing.T) {
	t.Parallel()
	get := func(options string) dial.Config {
		c, err := dial.Parse(options)
		require.NoError(t, err)
		return c
	}
	tcp := get("iggy://u:p@h:1?tls=true&tls_domain=d&tls_ca_file=/ca.pem&reconnection_retries=3&reconnection_interval=2s" +
		"&reestablish_after=1m&heartbeat_interval=500ms&nodelay=true&max_pending_operations=7&max_pending_operation_bytes=8")
	require.Equal(t, &transport.TLS{ServerName: "d", CAFile: "/ca.pem"}, tcp.TLS)
	require.Equal(t, dial.Reconnect{Retries: 3, Interval: 2 * time.Second, ReestablishAfter: time.Minute}, tcp.Reconnect)
	require.Equal(t, 500*time.Millisecond, tcp.Heartbeat)
	require.True(t, tcp.NoDelay)
	require.Equal(t, dial.Pending{Operations: 7, Bytes: 8}, tcp.Pending)

	ws := get("iggy+ws://u:p@h:1?tls=true&max_message_size=1000&read_buffer_size=1&write_buffer_size=0&max_write_buffer_size=1" +
		"&max_frame_size=1&accept_unmasked_frames=true&reconnection_retries=0")
	require.Equal(t, &transport.TLS{SkipVerify: true}, ws.TLS)
	require.Equal(t, transport.Limits{MaxReplyBytes: 1000}, ws.Limits)
	require.Zero(t, ws.Reconnect.Retries)
	require.Equal(t, &transport.TLS{}, get("iggy+ws://u:p@h:1?tls=true&tls_validate_certificate=true").TLS)

	quic := get("iggy+quic://u:p@h:1?response_buffer_size=300&receive_window=5&initial_mtu=1300&keep_alive_interval=1&max_idle_timeout=2" +
		"&validate_certificate=true&reconnection_max_retries=unlimited&reconnection_reestablish_after=1s&max_concurrent_bidi_streams=1" +
		"&datagram_send_buffer_size=0&send_window=1")
	require.Equal(t, &transport.TLS{}, quic.TLS)
	require.Equal(t, dial.QUICConfig{KeepAlive: time.Millisecond, MaxSilence: 2 * time.Millisecond, InitialMTU: 1300, ReceiveWindowBytes: 5}, quic.QUIC)
	require.Equal(t, transport.Limits{MaxReplyBytes: 300}, quic.Limits)
	require.Equal(t, time.Second, quic.Reconnect.ReestablishAfter)

	require.Equal(t, 9, get("iggy+http://token@h:1?retries=9").Retries)
}

func TestKeysOfACertificateNeedTLSAndVerifyIt(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"iggy+tcp", "iggy+ws"} {
		for _, key := range []string{"tls_domain=x", "tls_ca_file=x"} {
			name, _, _ := strings.Cut(key, "=")
			requirePart(t, scheme+"://u:p@h:1?"+key, "option "+name)
			c, err := dial.Parse(scheme + "://u:p@h:1?tls=false&" + key)
			require.NoError(t, err, "said by name")
			require.Nil(t, c.TLS)
			c, err = dial.Parse(scheme + "://u:p@h:1?tls=true&" + key)
			require.NoError(t, err)
			require.False(t, c.TLS.SkipVerify, key)
		}
	}
	requirePart(t, "iggy+ws://u:p@h:1?tls_validate_certificate=true", "option tls_validate_certificate")
	c, err := dial.Parse("iggy+ws://u:p@h:1?tls=true&tls_ca_file=x&tls_validate_certificate=false")
	require.NoError(t, err)
	require.True(t, c.TLS.SkipVerify)
}

func TestLastOfAnOptionCounts(t *testing.T) {
	t.Parallel()
	c, err := dial.Parse("iggy://u:p@h:1?nodelay=true&heartbeat_interval=1s&nodelay=false&heartbeat_interval=2s")
	require.NoError(t, err)
	require.False(t, c.NoDelay)
	require.Equal(t, 2*time.Second, c.Heartbeat)
	requirePart(t, "iggy://u:p@h:1?nodelay=no&nodelay=true", "option nodelay")
}

func TestBadValueIsNamedWithWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{
		"tls=yes":                   `iggy: connection string: option tls: "yes" is not true or false`,
		"tls_domain=":               `iggy: connection string: option tls_domain: "" is not a text`,
		"heartbeat_interval=5":      `iggy: connection string: option heartbeat_interval: "5" is not a duration above 0 such as 5s, 500ms or 1m`,
		"heartbeat_interval=-1s":    `iggy: connection string: option heartbeat_interval: "-1s" is not a duration above 0 such as 5s, 500ms or 1m`,
		"heartbeat_interval=0s":     `iggy: connection string: option heartbeat_interval: "0s" is not a duration above 0 such as 5s, 500ms or 1m`,
		"reconnection_retries=many": `iggy: connection string: option reconnection_retries: "many" is not unlimited or a number from 0 to 2147483647`,
		"max_pending_operations=0":  `iggy: connection string: option max_pending_operations: "0" is not a number from 1 to 2147483647`,
		"nodelay=1&x=2":             `iggy: connection string: option nodelay: "1" is not true or false`,
		"retries=3": `iggy: connection string: options: "retries" is none of heartbeat_interval, max_pending_operations, ` +
			`max_pending_operation_bytes, reconnection_retries, reconnection_interval, reestablish_after, tls, tls_domain, tls_ca_file, nodelay`,
	} {
		_, err := dial.Parse("iggy://u:p@h:1?" + option)
		require.EqualError(t, err, want)
	}
	for _, option := range []string{"initial_mtu=1199", "initial_mtu=65536", "keep_alive_interval=5s", "response_buffer_size=255", "receive_window=0"} {
		name, _, _ := strings.Cut(option, "=")
		requirePart(t, "iggy+quic://u:p@h:1?"+option, "option "+name)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("iggy://user:password@127.0.0.1:8090?tls=true&heartbeat_interval=5s")
	f.Add("iggy+quic://aGVsbG8+d29ybGQ@[::1]:8080?initial_mtu=1300")
	f.Add("iggy+ws://a:b@c@h:8092")
	f.Add("iggy+http://u:p@h:3000?retries=3&retries=x")
	f.Fuzz(func(t *testing.T, text string) {
		const mark = "zq~zq" // begins the credentials, and is in no rule
		if strings.Contains(text, mark) {
			t.Skip()
		}
		text = strings.Replace(text, "://", "://"+mark, 1)
		c, err := dial.Parse(text)
		if err != nil {
			var e *dial.ParseError
			require.ErrorAs(t, err, &e)
			require.NotContains(t, err.Error(), mark)
			return
		}
		require.NotZero(t, c.Port)
		require.NotEmpty(t, c.Host)
		held := c.Credentials.Token.Reveal()
		if held == "" {
			held = c.Credentials.Username + ":" + c.Credentials.Password.Reveal()
		}
		require.Contains(t, text, "://"+held+"@")
	})
}
