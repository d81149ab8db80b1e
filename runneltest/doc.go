// Package runneltest tests pipelines without servers, without sleeping, and with the failures that a test would
// otherwise have to wait for.
//
//   - [Start] runs a pipeline in the background of a test; [Clock] is a clock that the test moves.
//   - [Driver] is a source that the test feeds step by step, with a marker where it asks for one; [Probe] is a sink
//     that shows what has arrived, and between which markers.
//   - [TxSink], [DecidingSink] and [LateSink] are sinks in memory that prepare and commit, decide checkpoints, or
//     acknowledge when they are told. [Group] is a source whose partitions move. [NewStore] is a durable store whose
//     disk is the memory of the test.
//   - A [Hook] makes any source, sink or store fail, stall or die at a given call; [Gate] holds calls until the test
//     lets them go.
//   - [Crash] kills a pipeline at every call that it makes to the outside, starts it again, and leaves it to the test
//     to say whether anything was lost or repeated.
//   - [CheckGoroutines] finds goroutines that a test has left behind.
//
// The examples show a test with clock, driver and probe, and one with [Crash].
//
// What waits takes a testing.TB and fails the test, with what it waited for, after 30 seconds, or as soon as a run of
// that testing.TB ends with an error. In a bubble of testing/synctest the 30 seconds are over as soon as nothing moves
// any more.
package runneltest
