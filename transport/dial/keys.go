package dial

import (
	"math"
	"slices"
	"time"
)

// none is the default of a key that has none.
const none = "-"

// noEffect is what the description of a key begins with that has no counterpart here. Its value is checked all the same.
const noEffect = "no effect: "

// key is an option of a connection string: section 8.2 of the description of the protocol. The tables below and the
// comment of the package say the same, which a test sees to.
type key struct {
	name     string
	standard string // the default as it would be written in a string, or none
	effect   string // what it is for
	value
}

// keysOf returns the options of a protocol.
func keysOf(p Protocol) []key {
	switch p {
	case TCP:
		return slices.Concat(linkKeys(), reconnectKeys(), tlsKeys(), tcpKeys())
	case WebSocket:
		return slices.Concat(linkKeys(), reconnectKeys(), tlsKeys(), wsKeys())
	case QUIC:
		return slices.Concat(linkKeys(), quicKeys())
	default:
		return httpKeys()
	}
}

func linkKeys() []key {
	return []key{
		{"heartbeat_interval", "5s", "pause between signs of life of a client", duration(heartbeat)},
		{"max_pending_operations", "256", "writes that a client keeps for retry", number(1, math.MaxInt32, func(d *draft) *int { return &d.Pending.Operations })},
		{"max_pending_operation_bytes", "67108864", "their length together", number(1, math.MaxInt64, func(d *draft) *int64 { return &d.Pending.Bytes })},
	}
}

func reconnectKeys() []key {
	return []key{
		{"reconnection_retries", "unlimited", "attempts to connect again, or unlimited", attempts(retries)},
		{"reconnection_interval", "1s", "pause before the first of them", duration(interval)},
		{"reestablish_after", "5s", "age of a link after which the pauses start over", duration(reestablish)},
	}
}

func tlsKeys() []key {
	return []key{
		{"tls", "false", "whether TLS is used", boolean(func(d *draft) *bool { return &d.tlsOn })},
		{"tls_domain", none, "name in the certificate, if it is not the host", text(func(d *draft) *string { return &d.tls.ServerName })},
		{"tls_ca_file", none, "root certificates in PEM form, if they are not the machine's", text(func(d *draft) *string { return &d.tls.CAFile })},
	}
}

func tcpKeys() []key {
	return []key{
		{"nodelay", "false", "whether short frames are sent at once", boolean(func(d *draft) *bool { return &d.NoDelay })},
	}
}

func wsKeys() []key {
	return []key{
		{"tls_validate_certificate", "false", "whether the certificate is verified", boolean(verify)},
		{"max_message_size", none, "longest reply in bytes, if it is not that of the protocol", replyBytes()},
		{"read_buffer_size", none, noEffect + "the library has buffers of its own", number(1, math.MaxInt64, unused[int64])},
		{"write_buffer_size", none, noEffect + "the library has buffers of its own", number(0, math.MaxInt64, unused[int64])},
		{"max_write_buffer_size", none, noEffect + "a frame is written as a whole", number(1, math.MaxInt64, unused[int64])},
		{"max_frame_size", none, noEffect + "replies are limited, however they are cut", number(1, math.MaxInt64, unused[int64])},
		{"accept_unmasked_frames", "false", noEffect + "a rule for servers", boolean(unused[bool])},
	}
}

func quicKeys() []key {
	return []key{
		{"reconnection_max_retries", "unlimited", "attempts to connect again, or unlimited", attempts(retries)},
		{"reconnection_interval", "1s", "pause before the first of them", duration(interval)},
		{"reconnection_reestablish_after", "5s", "age of a link after which the pauses start over", duration(reestablish)},
		{"response_buffer_size", "64156564", "longest reply in bytes", replyBytes()},
		{"receive_window", "100000", "bytes of a reply before it is read, at first", number(1, math.MaxInt64, func(d *draft) *uint64 { return &d.QUIC.ReceiveWindowBytes })},
		{"initial_mtu", "1200", "length of the first packets", number(1200, math.MaxUint16, func(d *draft) *uint16 { return &d.QUIC.InitialMTU })},
		{"keep_alive_interval", "5000", "pause in ms after which an idle link sends something", milliseconds(func(d *draft) *time.Duration { return &d.QUIC.KeepAlive })},
		{"max_idle_timeout", "10000", "silence in ms that ends a link", milliseconds(func(d *draft) *time.Duration { return &d.QUIC.MaxSilence })},
		{"validate_certificate", "false", "whether the certificate is verified, for the host as its name", boolean(verify)},
		{"max_concurrent_bidi_streams", "10000", noEffect + "a server opens no streams", number(0, math.MaxInt64, unused[int64])},
		{"datagram_send_buffer_size", "100000", noEffect + "there are no datagrams", number(0, math.MaxInt64, unused[int64])},
		{"send_window", "100000", noEffect + "the server's window bounds what is sent", number(1, math.MaxInt64, unused[int64])},
	}
}

func httpKeys() []key {
	return []key{
		{"heartbeat_interval", "5s", "pause between signs of life of a client", duration(heartbeat)},
		{"retries", "3", "how often a request is made again", repeats()},
	}
}

// Fields that options of more than one protocol set.
func heartbeat(d *draft) *time.Duration   { return &d.Heartbeat }
func interval(d *draft) *time.Duration    { return &d.Reconnect.Interval }
func reestablish(d *draft) *time.Duration { return &d.Reconnect.ReestablishAfter }
func retries(d *draft) *int               { return &d.Reconnect.Retries }
func verify(d *draft) *bool               { return &d.tlsCheck }

// unused is the field of an option without effect.
func unused[T any](*draft) *T { return new(T) }
