// Package gostreams joins Runnel with github.com/reugn/go-streams, in both directions.
//
// Parts of go-streams in a Runnel pipeline: [Via] passes a stream through a flow, [Sink] writes to a sink, [Source] reads
// a source. They take a function that makes the part, because a part of go-streams knows no marker: at each checkpoint
// its inlet is closed, it runs to its end, and the next record meets a new one. So what it holds is emitted, or written,
// before the checkpoint passes: windows and batches of go-streams end there too.
//
// Parts of Runnel in a go-streams pipeline: [NewFlow], [NewSource] and [NewSink] take a function that builds them, and
// run them as a pipeline of their own, with its checkpoints. What they hand to go-streams counts as delivered.
//
// Elements of go-streams have no type and no metadata. One of an unexpected type is an error that names both types. A
// panic in a function that go-streams runs ends the process: it happens in a goroutine of go-streams.
//
// An element crosses two or more unbuffered channels; expect microseconds for each, where operators of Runnel take
// nanoseconds.
package gostreams
