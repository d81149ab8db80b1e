// Package broker is the core of the embedded Iggy server: one node that takes requests as frames of the binary protocol
// and answers with frames. It does no network I/O; listeners call it.
//
//	b, err := broker.New(broker.Config{})
//	link := b.Connect(broker.Peer{Transport: wire.TransportTCP, Address: "10.0.0.7:50123"})
//	reply, closing := link.Handle(ctx, frame)
//
// The rules it follows are those of the Iggy binary protocol, version 0.12, for a server that is alone in its cluster.
//
// Everything is kept in memory. [Log] is the seam for messages on disk; streams, users, offsets and sessions have none.
//
// Where to look: link.go and request.go take a frame to its handler, reply.go makes the answer, and ledger.go knows
// repeats. login.go and session.go say who asks, stateless.go who asks without a session, permissions.go what it may.
// streams.go, topics.go, partitions.go, users.go, tokens.go and groups.go have the metadata, options.go and update.go its
// settings, and group.go the rules by which partitions are shared out. send.go and producers.go store messages; read.go,
// poll.go and wait.go serve them, as far as room.go has room; offsets.go keeps where consumers are. sweep.go and
// retention.go do what time brings, faults.go what tests of clients need.
package broker
