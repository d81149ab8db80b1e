// Package wire encodes and decodes the binary protocol of Apache Iggy, version 0.12: what clients and servers put into
// the frames that TCP, TLS, QUIC and WebSocket carry. It serves both sides. It does no I/O and starts no goroutine.
//
// A frame is a header of 256 bytes and a body. [DecodePrefix] tells from the header how long the frame is and what it
// is; [DecodeRequest], [DecodeReply] and [DecodeEviction] take it apart, [AppendRequest], [AppendReply],
// [AppendRejection] and [AppendEviction] make it.
//
// A body is a struct with the name of its command, such as [CreateTopic]; [Append] encodes it and [Decode] reads it. The
// list of [Command] says which bodies a command and its reply have. Messages are in batches: [AppendBatch] makes one of
// messages, [Records] walks over those of a reply without a copy, and [VerifyBatch], [StampBatch] and [AppendSlice] are
// for who stores them.
//
// No input makes a decoder panic, or allocate more than a small multiple of the input. What is wrong with an input is
// told by a [*FieldError]: which field, at which byte, and one of the errors of this package.
//
// Names, kinds and limits are those of the protocol description, whose part is named beside each type.
package wire
