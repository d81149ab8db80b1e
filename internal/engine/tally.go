package engine

import "sync/atomic"

// Tally counts what happened to the records of one source, stage or sink. It is safe for concurrent use.
type Tally struct {
	In           atomic.Int64 // records received, or read
	Out          atomic.Int64 // records emitted, all outputs together
	Passed       atomic.Int64 // input records that went into those
	Filtered     atomic.Int64 // input records that ended here on purpose
	Skipped      atomic.Int64 // input records dropped by policy
	DeadLettered atomic.Int64 // input records sent to a dead-letter sink
	Failed       atomic.Int64 // failed attempts
	Abandoned    atomic.Int64 // records read and not handed on
	Revoked      atomic.Int64 // records dropped because their partition was given up
	Held         atomic.Int64 // input records that the state stands for
	Busy         atomic.Int64 // nanoseconds at work
	Blocked      atomic.Int64 // nanoseconds waiting to hand on
	Aligning     atomic.Int32 // sends that wait until a marker has come on the other inputs too

	// Own says that the stage counts Passed or Filtered itself; otherwise nothing is known of its inputs but that they
	// came in.
	Own atomic.Bool
}
