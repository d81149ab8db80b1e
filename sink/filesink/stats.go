package filesink

import "sync/atomic"

// Stats counts what happened to the files of a sink beside being written, over all attempts of a run.
type Stats struct {
	// FilesDone is how many numbered files got their names.
	FilesDone int64
	// CutBytes is what was cut behind the length of a checkpoint; its records are read and written again.
	CutBytes int64
	// TornBytes is what [Append] or [AllowLoss] cut as a torn last record.
	TornBytes int64
	// LostBytes is what a checkpoint says was written and is not there any more, under [AllowLoss].
	LostBytes int64
}

// counters are Stats while they are being counted.
type counters struct{ done, cut, torn, lost atomic.Int64 }

func (c *counters) stats() Stats {
	return Stats{
		FilesDone: c.done.Load(), CutBytes: c.cut.Load(), TornBytes: c.torn.Load(), LostBytes: c.lost.Load(),
	}
}
