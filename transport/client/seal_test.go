package client_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// secretKey is a key whose bytes would be seen in any text they got into.
var secretKey = bytes.Repeat([]byte("K"), wire.KeySize)

func message(t *testing.T, payload string, headers ...wire.UserHeader) wire.Message {
	t.Helper()
	m, err := client.NewMessage([]byte(payload), headers...)
	require.NoError(t, err)
	return m
}

// walk reads a partition from its begin and returns payloads and what did not decrypt.
func walk(t *testing.T, c *client.Client) (payloads []string, faults []error) {
	t.Helper()
	polled, err := c.Poll(t.Context(), single, part(0), wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, client.Read{})
	require.NoError(t, err)
	for m, err := range c.Messages(polled.Records) {
		if err != nil {
			faults = append(faults, err)
			continue
		}
		payloads = append(payloads, string(m.Payload))
	}
	return payloads, faults
}

func TestHeadersOfEveryKindComeBack(t *testing.T) {
	t.Parallel()
	server, plain := serve(t, 1)
	big := wire.Uint128{Hi: 1<<63 + 1, Lo: 2}
	headers := []wire.UserHeader{
		client.Header("text", wire.StringValue("value")), client.Header("bool", wire.BoolValue(true)),
		client.Header("raw", wire.RawValue([]byte{0, 255})),
		client.Header("i8", wire.Int8Value(-8)), client.Header("i16", wire.Int16Value(-16)),
		client.Header("i32", wire.Int32Value(-32)), client.Header("i64", wire.Int64Value(-64)),
		client.Header("i128", wire.Int128Value(big)),
		client.Header("u8", wire.Uint8Value(8)), client.Header("u16", wire.Uint16Value(16)),
		client.Header("u32", wire.Uint32Value(32)), client.Header("u64", wire.Uint64Value(64)),
		client.Header("u128", wire.Uint128Value(big)),
		client.Header("f32", wire.Float32Value(0.5)), client.Header("f64", wire.Float64Value(-0.25)),
	}
	for _, c := range []*client.Client{plain, connect(t, server, client.Encrypt(secretKey))} {
		m := message(t, "with headers", headers...)
		at, _, err := c.Send(t.Context(), part(0), nil, []wire.Message{m})
		require.NoError(t, err)
		polled, err := c.Poll(t.Context(), single, part(0),
			wire.PollingStrategy{Kind: wire.FromOffset, Value: at.BaseOffset}, wire.PartitionContext{}, client.Read{})
		require.NoError(t, err)
		for got, err := range c.Messages(polled.Records) {
			require.NoError(t, err)
			back, err := client.Headers(got)
			require.NoError(t, err)
			require.ElementsMatch(t, headers, back)
			require.Equal(t, "with headers", string(got.Payload))
		}
	}
}

func TestHeaderThatIsNotAllowedIsRefused(t *testing.T) {
	t.Parallel()
	long := make([]byte, 256)
	flag := client.Header("flag", wire.BoolValue(true))
	var many []wire.UserHeader
	for i := range 400 {
		many = append(many, client.Header(fmt.Sprint("key ", i), wire.RawValue(long[1:])))
	}
	for want, headers := range map[string][]wire.UserHeader{
		"header 2 has a key of 0 bytes and a value of 1, not 1 to 255 each": {flag, client.Header("", wire.BoolValue(true))},
		"a key of 256 bytes":          {client.Header(string(long), wire.BoolValue(true))},
		"a value of 256":              {client.Header("key", wire.RawValue(long))},
		"a value of 0":                {client.Header("key", wire.RawValue(nil))},
		"each key once":               {flag, flag},
		"up to 100000 bytes together": many,
	} {
		_, err := client.NewMessage(nil, headers...)
		require.ErrorIs(t, err, client.ErrArgument)
		require.ErrorContains(t, err, want)
	}
	_, err := client.NewMessage(make([]byte, wire.MaxPayloadSize+1))
	require.ErrorContains(t, err, "not up to 64000000")
	_, err = client.Headers(wire.Message{UserHeaders: []byte{1}})
	require.Error(t, err)
}

func TestServerSeesNothingOfAnEncryptedMessage(t *testing.T) {
	t.Parallel()
	server, plain := serve(t, 1)
	c := connect(t, server, client.Encrypt(secretKey))
	sent := []wire.Message{message(t, "payload", client.Header("tenant", wire.StringValue("acme"))), message(t, "")}
	_, _, err := c.Send(t.Context(), part(0), nil, sent)
	require.NoError(t, err)
	require.Equal(t, "payload", string(sent[0].Payload), "what the caller has stays as it is")

	polled, err := plain.Poll(t.Context(), single, part(0), wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, client.Read{})
	require.NoError(t, err)
	for _, word := range []string{"payload", "tenant", "acme"} {
		require.NotContains(t, string(polled.Records), word)
	}
	payloads, faults := walk(t, c)
	require.Empty(t, faults)
	require.Equal(t, []string{"payload", ""}, payloads)
}

func TestMessageThatDoesNotDecryptNamesItsOffsetAndStopsNothing(t *testing.T) {
	t.Parallel()
	server, plain := serve(t, 1)
	c := connect(t, server, client.Encrypt(secretKey))
	other := connect(t, server, client.Encrypt(bytes.Repeat([]byte("O"), wire.KeySize)))
	for i, by := range []*client.Client{c, other, plain, c} {
		_, _, err := by.Send(t.Context(), part(0), nil, []wire.Message{message(t, fmt.Sprintf("message %d, longer than what is added", i))})
		require.NoError(t, err)
	}
	payloads, faults := walk(t, c)
	require.Equal(t, []string{"message 0, longer than what is added", "message 3, longer than what is added"}, payloads)
	require.Len(t, faults, 2)
	for i, err := range faults {
		require.ErrorIs(t, err, wire.CodeCannotDecryptData)
		require.ErrorContains(t, err, fmt.Sprintf("offset %d of partition 0", i+1))
		require.NotContains(t, err.Error(), "message 2")
	}
}

func TestReadThatStoresOffsetsIsRefusedWithEncryption(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, 1)
	c := connect(t, server, client.Encrypt(secretKey))
	read := client.Read{AutoCommit: true}
	_, err := c.Poll(t.Context(), single, part(0), wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, read)
	require.ErrorIs(t, err, client.ErrArgument)
	require.ErrorIs(t, err, wire.CodeInvalidConfiguration)
	_, err = c.Fetch(t.Context(), single, part(0).Stream, part(0).Topic, []client.Target{{}}, read)
	require.ErrorIs(t, err, client.ErrArgument)
}

func TestNothingIsSentInClearWithEncryption(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, 1)
	c := connect(t, server, client.Encrypt(secretKey))
	batch, err := wire.AppendBatch(nil, nil, texts(0, 1))
	require.NoError(t, err)
	_, _, err = c.SendBatch(t.Context(), part(0), 1, batch)
	require.ErrorIs(t, err, client.ErrArgument)

	over := connectOver(t, dial.HTTP, server, client.Encrypt(secretKey))
	require.NoError(t, over.Login(t.Context(), "iggy", "iggy"))
	balanced := wire.Partitioning{Kind: wire.PartitionBalanced}
	require.NoError(t, over.SendPartitioned(t.Context(), part(0).Stream, part(0).Topic, balanced, []wire.Message{message(t, "over HTTP")}))
	payloads, faults := walk(t, c)
	require.Empty(t, faults)
	require.Equal(t, []string{"over HTTP"}, payloads)
}

func TestMessageIsNoLongerThanItMayBeEncrypted(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, 1)
	c := connect(t, server, client.Encrypt(secretKey))
	_, _, err := c.Send(t.Context(), part(0), nil, []wire.Message{{Payload: make([]byte, wire.MaxPayloadSize-27)}})
	require.ErrorIs(t, err, client.ErrArgument)
	require.ErrorContains(t, err, "up to 63999972")
}

func TestKeyIsCheckedAndNotPrinted(t *testing.T) {
	t.Parallel()
	_, err := dial.Client("iggy://iggy:iggy@127.0.0.1:8090", client.Encrypt([]byte("short and secret")))
	require.ErrorContains(t, err, "a key of 16 bytes, not 32")
	require.NotContains(t, err.Error(), "secret")
	c, err := dial.Client("iggy://iggy:iggy@127.0.0.1:8090", client.Encrypt(secretKey))
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", c, c, c, c), "KKKK")
	require.NoError(t, c.Shutdown(t.Context()))
}

func TestWalkEndsAtRecordsThatAreCut(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	batch, err := wire.AppendBatch(nil, nil, []wire.Message{{ID: wire.Uint128{Lo: 1}, Payload: []byte("a")}})
	require.NoError(t, err)
	var faults []error
	for _, err := range c.Messages(batch[:len(batch)-1]) {
		faults = append(faults, err)
	}
	require.Len(t, faults, 1)
	require.Error(t, faults[0])
}

func TestWalkWithoutEncryptionAllocatesNothingForAMessage(t *testing.T) {
	_, c := serve(t, 1)
	records, err := wire.AppendBatch(nil, nil, texts(0, 1000))
	require.NoError(t, err)
	allocated := testing.AllocsPerRun(10, func() {
		for _, err := range c.Messages(records) {
			if err != nil {
				t.Error(err)
			}
		}
	})
	require.LessOrEqual(t, allocated, 5.0)
}

func TestAClientTellsWhatItsOptionsAndTransportAre(t *testing.T) {
	t.Parallel()
	for protocol, sessionless := range map[dial.Protocol]bool{dial.TCP: false, dial.HTTP: true} {
		plain, err := dial.Client("iggy+" + string(protocol) + "://iggy:iggy@127.0.0.1:1")
		require.NoError(t, err)
		require.Equal(t, sessionless, plain.Sessionless())
		require.False(t, plain.Encrypts())
		sealing, err := dial.Client("iggy+"+string(protocol)+"://iggy:iggy@127.0.0.1:1", client.Encrypt(make([]byte, wire.KeySize)))
		require.NoError(t, err)
		require.True(t, sealing.Encrypts())
	}
}
