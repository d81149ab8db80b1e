// Package broker is the core of the embedded Iggy server: one node that takes requests as frames of the binary protocol
// and answers with frames. It does no network I/O; listeners call it.
//
//	b, err := broker.New(broker.Config{})
//	link := b.Connect(broker.Peer{Transport: wire.TransportTCP, Address: "10.0.0.7:50123"})
//	reply, closing := link.Handle(ctx, frame)
//
// The rules it follows are those of the Iggy binary protocol, version 0.12, for a server that is alone in its cluster.
//
// It does no file I/O either: [Store] is the seam for what is to be there after a restart, and [Log] its part for messages.
// Without one everything is in memory. A change is committed there before anything in memory shows it and before its
// client is told; if that is not possible the request is refused and nothing has changed. Sessions, memberships of groups
// and what is known of idempotent producers are in memory only.
//
// Where to look: link.go and request.go take a frame to its handler, reply.go makes the answer, and ledger.go knows
// repeats. login.go and session.go say who asks, stateless.go who asks without a session, permissions.go what it may.
// streams.go, topics.go, partitions.go, users.go, tokens.go and groups.go have the metadata, options.go and update.go its
// settings, and group.go the rules by which partitions are shared out. send.go and producers.go store messages; read.go,
// poll.go and wait.go serve them, as far as room.go has room; offsets.go keeps where consumers are. entries.go and load.go
// say what a store has of all that. sweep.go and retention.go do what time brings, faults.go what tests of clients need.
package broker
