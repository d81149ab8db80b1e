package iggyserver

import "github.com/runnel-go/runnel/transport/wire"

// Renew gives a partition a new life, as if it had been deleted and made again with the same messages: requests for the old
// one get [wire.CodeHistoryUnavailable] until the client has asked for the route again. The error says that it is not there.
func (f *Faults) Renew(stream, topic wire.Identifier, partition uint32) error {
	return f.broker.Renew(stream, topic, partition)
}

// Regenerate gives all partitions of a group to their owners anew: requests as the owner of before get
// [wire.CodeConsumerGroupPartitionNotOwned]. The error says that it is not there.
func (f *Faults) Regenerate(stream, topic, group wire.Identifier) error {
	return f.broker.Regenerate(stream, topic, group)
}

// Truncate makes a partition lose its messages from the offset next on, as a server that is killed may. Offsets that
// consumers have stored stay, and may lie beyond the end. The error says that it is not there.
func (f *Faults) Truncate(stream, topic wire.Identifier, partition uint32, next uint64) error {
	return f.broker.Truncate(stream, topic, partition, next)
}

// ForgetSessions ends all sessions, as a server that is started anew has none: their requests and binds get
// [wire.CodeUnauthenticated]. Connections stay open.
func (f *Faults) ForgetSessions() { f.broker.ForgetSessions() }

// Disconnect closes all connections without a word. Sessions live on.
func (f *Faults) Disconnect() { f.broker.Disconnect() }

// Down closes all connections, and new ones at once, until [Faults.Up] is called: so a server is seen that is stopped and
// comes back with all it had. With [Faults.ForgetSessions] it comes back as one that is started anew.
// Over HTTP pings are answered meanwhile, logins refused, and other requests cut.
func (f *Faults) Down() {
	f.down.Store(true)
	f.broker.Disconnect()
}

// Up ends what [Faults.Down] has begun.
func (f *Faults) Up() { f.down.Store(false) }

// EvictAll closes all connections for a reason. Sessions live on. Over QUIC, only clients that wait for a reply learn the
// reason.
func (f *Faults) EvictAll(why wire.EvictReason) { f.broker.EvictAll(why) }
