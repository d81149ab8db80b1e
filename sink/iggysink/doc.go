// Package iggysink sends messages to Apache Iggy: on its own, or as the sink of a pipeline.
//
//	p := iggysink.NewProducer(c, wire.Named("flights"), wire.Named("late"))
//	if err := p.Init(ctx); err != nil { … } // connects, and makes stream and topic if they are missing
//	defer p.Shutdown(ctx)
//	at, err := p.Send(ctx, messages)
//
// The client c is the caller's: it may be shared, need not be connected, and is not shut down by the producer.
//
// # Direct and in the background
//
// A send waits until the server has stored the messages, in requests of up to 1000 ([Direct]), or it returns as soon as they are
// buffered, and workers write them ([Background]). What could not be written is the error of the send, a *[SendFailedError], or goes
// to [OnError]. Either way it says what failed, why, and how much of it may have been written all the same.
//
// Messages that are buffered are copied: slice, payload and headers may be used again when the send returns. The copies lie in
// memory that is used again, so that a message costs no allocation. [MaxBufferBytes] bounds it.
//
// # Where messages go
//
// [Balanced] (the default), [ByKey], [ToPartition], or a function ([Partitioner]). A key goes to the same partition as with other
// clients of Iggy. Over HTTP the server chooses, but for ToPartition.
//
// Order is kept in a partition, for what one goroutine sends there; in the background with [Ordered], the default. Requests that
// different goroutines send at once, or different shards, overtake each other.
//
// # When the outcome is not known
//
// A request that was sent and got no answer may have been stored. The client sends it again until its time is up; then the cause is
// [wire.CodeOperationUncertain] with the number of the operation, and the partition takes nothing else until that is resolved:
// the producer does so before it sends there again, for operations that it left itself. For others it fails with
// [wire.CodeLaneBlocked], and nothing of that was sent. [client.Client.ResolveOperation] tells the outcome of an operation, also
// behind the producer. With [client.ErrSessionReplaced] as a cause nobody can tell it any more. Over HTTP the cause is
// [wire.CodeTransientNotCommitted], and nothing is blocked. To send such messages anew may store them twice.
//
// # Idempotent
//
// With [Idempotent] each request carries the number of the producer, an epoch, and for its partition the sequence of its first
// message, by which the server knows a request that it has stored. So the producer sends a request again up to three times when
// the outcome is not known, also in another session, and it is stored once. What it sent before it was made anew, in another process
// or run, it does not know: it is a new producer then. A cause of [wire.CodeProducerEpochFenced] means that another copy of the producer
// took over; it sends nothing more. If the server has forgotten the producer while the outcome was not known, as one does that
// was started anew, the request fails with [wire.CodeOperationUncertain]: to begin with a new sequence might store it twice.
//
// # In a pipeline
//
//	records.To(iggysink.JSON[Order](p))
//
// [JSON] and [Encode] make a sink of a producer, and the producer itself is one of [Message]. [Sink] says what it promises.
package iggysink
