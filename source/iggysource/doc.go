// Package iggysource reads messages of Apache Iggy: by a consumer that is used alone, or as the source of a pipeline.
//
//	c := iggysource.NewConsumer(client, "billing", wire.Named("shop"), wire.Named("orders"), iggysource.Group())
//	if err := c.Init(ctx); err != nil { … }
//	for m, err := range c.Messages(ctx) {
//		if err != nil { … }
//		handle(m)
//		if err := c.Commit(ctx, m.Checkpoint()); err != nil { … }
//	}
//	err := c.Shutdown(ctx)
//
// It reads the partitions that a consumer group assigns to it ([Group]), or those that it is told ([Partitions]). Messages of a
// partition come in their order; those of different partitions come as they are read. Reads are under way while what
// was read before is handed out, as far as [PrefetchMessages] and [PrefetchBytes] allow.
//
// # Offsets
//
// By default nothing is stored but what is committed ([CommitManually]). [CommitAutomatically] stores what counts as handled
// every now and then, and [CommitOnRead] lets the server do so with each read. A [Checkpoint] knows the life of the partition and
// the ownership that its message was read under: one that is too old is refused by the server, and never stored for
// somebody else's reading.
//
// # Groups
//
// The assignment is looked at each second, and when the server says that a partition has another owner. A partition that stays
// is read on where it is. One that is taken away is not read any more; what was read before is handed out, and can be
// committed, until the server gives it to another member, which it does as soon as all of that is committed, or after half
// a minute. Offsets that are refused then are counted and not tried again. A member without partitions waits. A member that the
// group has lost joins again.
//
// The members of a group need a client each. Over HTTP there are no groups.
//
// # Errors
//
// Errors of reads that pass are not told. A [*ReadError] tells of the others, and of a message that cannot be decoded or decrypted:
// its partition stands still until [Consumer.Seek].
//
// # In a pipeline
//
// A [Consumer] is a source of [Message]; [Decode] and [JSON] make sources of other types of one. Offsets are stored when the
// pipeline's markers are complete, and no other way. The position of a partition is the next offset with the life and the
// ownership of the partition. With Partitions the pipeline's store says where to begin, and the stored offsets are a copy for
// tools; with a group the stored offsets do. A partition that the group takes away is drained first: a marker commits what was
// read of it, or [RebalanceTimeout] passes. Messages that cannot be decoded, decrypted or read go by the error policy of
// the source, with their payload, and do not stop it.
//
// The event time of a record is when the sender made the message. It has no key. Its headers are the user headers: names and values
// that are texts or raw bytes as they are, others as text.
//
// # Memory
//
// Payloads are views of the replies that they came with. Nothing reuses that memory: it belongs to who has the message. So a
// program that reads fast makes much garbage; one that holds little else may read a third faster with GOGC=800.
//
// # Where to look
//
// consumer.go begins and ends, next.go hands messages out; schedule.go says what is read, read.go reads it, settle.go says what
// becomes of a reply; cursor.go is where reading is in a partition, seek.go moves it, group.go gives and takes partitions;
// commit.go, auto.go and offsets.go store offsets. source.go is the source of a pipeline, reader.go and parse.go make fetches,
// drain.go commits and gives partitions back, bound.go ends a read, position.go is what a checkpoint holds.
package iggysource
