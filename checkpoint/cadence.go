package checkpoint

import (
	"errors"
	"fmt"
	"time"
)

const (
	// DefaultInterval is the interval between two checkpoints unless [Every] sets another.
	DefaultInterval = 5 * time.Second
	// DefaultRecords is the number of records between two checkpoints unless [EveryRecords] sets another;
	// 0 means that time alone decides.
	DefaultRecords = 0
	// DefaultMaxOpen is how many markers may be open at once unless [MaxOpen] sets another number.
	DefaultMaxOpen = 4
)

// Cadence says when a checkpoint is due. [NewCadence] makes a valid one.
type Cadence struct {
	// Interval is the longest time between two checkpoints while positions move; above 0.
	Interval time.Duration
	// Records is how many records are read, by all sources together, before a checkpoint is due ahead of the
	// interval; 0 means that time alone decides.
	Records int
	// MaxOpen is how many markers may be under way at once; at least 1.
	MaxOpen int
}

// Option sets a part of a [Cadence].
type Option interface{ apply(*Cadence) }

type optionFunc func(*Cadence)

func (f optionFunc) apply(c *Cadence) { f(c) }

// Every makes a checkpoint due each d, if something moved. Default: 5s. d must be above 0.
//
// With [EveryRecords], whichever comes first decides. A crash repeats what was read since the last completed
// checkpoint, so a longer interval repeats more; a shorter one flushes the sinks more often, which costs them their
// large batches.
//
// A checkpoint is complete when its marker has passed through every stage, and it stays behind the records that are
// queued in front of a slow one: up to 10 batches a stage, each of up to 1,024 records unless runnel.MaxBatch sets fewer.
// At 10 ms a record that is 102 s, whatever d is; a lower MaxBatch shortens it.
func Every(d time.Duration) Option {
	return optionFunc(func(c *Cadence) { c.Interval = d })
}

// EveryRecords makes a checkpoint due each n records read, even before the interval of [Every] has passed.
// Default: 0, which means that time alone decides. n must not be below 0.
//
// A small n at a high rate flushes the sinks without pause; once [MaxOpen] markers are under way, sources wait. How soon
// a checkpoint that is due completes depends on what is queued, see [Every].
func EveryRecords(n int) Option {
	return optionFunc(func(c *Cadence) { c.Records = n })
}

// MaxOpen lets k markers be under way at once. Default: 4. k must be at least 1.
//
// When k are open and the next is due, the sources pause until the oldest completes: what a crash repeats is bounded
// by k+1 intervals. With 1 every slow flush stalls the sources; with many a crash repeats more.
func MaxOpen(k int) Option {
	return optionFunc(func(c *Cadence) { c.MaxOpen = k })
}

// NewCadence returns the defaults changed by opts. Its error joins every mistake there is, not just the first.
func NewCadence(opts ...Option) (Cadence, error) {
	c := Cadence{Interval: DefaultInterval, Records: DefaultRecords, MaxOpen: DefaultMaxOpen}
	var mistakes []error
	for i, opt := range opts {
		if opt == nil {
			mistakes = append(mistakes, fmt.Errorf("checkpoint: option %d is nil", i))
			continue
		}
		opt.apply(&c)
	}
	if c.Interval <= 0 {
		mistakes = append(mistakes, fmt.Errorf("checkpoint: Every(%v): the interval must be above 0", c.Interval))
	}
	if c.Records < 0 {
		mistakes = append(mistakes, fmt.Errorf("checkpoint: EveryRecords(%d): must not be below 0", c.Records))
	}
	if c.MaxOpen < 1 {
		mistakes = append(mistakes, fmt.Errorf("checkpoint: MaxOpen(%d): must be at least 1", c.MaxOpen))
	}
	if len(mistakes) > 0 {
		return Cadence{}, errors.Join(mistakes...)
	}
	return c, nil
}
