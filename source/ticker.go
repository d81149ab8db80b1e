package source

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Ticker returns a source of the time, once every interval by the pipeline's clock, first after one interval. The
// record's value and event time are the moment that was due. Ticks that nobody was ready for are left out, as those of
// time.Ticker are; ticks cannot be read again. The interval must be above 0.
func Ticker(interval time.Duration) runnel.Source[time.Time] { return ticker{interval} }

type ticker struct{ interval time.Duration }

// Describe says that the source cannot be read again.
func (s ticker) Describe() runnel.Traits { return runnel.Traits{Kind: "ticker"} }

// Validate refuses an interval that is not above 0.
func (s ticker) Validate() error {
	if s.interval <= 0 {
		return fmt.Errorf("the interval is %v; it must be above 0", s.interval)
	}
	return nil
}

// Open starts the first interval.
func (s ticker) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[time.Time], error) {
	numbers, err := newSequence(env, from)
	if err != nil {
		return nil, err
	}
	return &tickerReader{
		interval: s.interval, clock: env.Clock, due: env.Clock.Now().Add(s.interval),
		numbers: numbers, closed: make(chan struct{}),
	}, nil
}

// tickerReader reads the time.
type tickerReader struct {
	offsets
	interval time.Duration
	clock    runnel.Clock
	due      time.Time // the next tick
	numbers  sequence
	once     sync.Once
	closed   chan struct{}
}

// Read waits for the next tick.
func (r *tickerReader) Read(ctx context.Context) (runnel.Fetch[time.Time], error) {
	if late := r.clock.Now().Sub(r.due); late > 0 {
		r.due = r.due.Add(late.Truncate(r.interval)) // the newest that has passed stands for those before
	}
	if err := r.wait(ctx); err != nil {
		return runnel.Fetch[time.Time]{}, err
	}
	tick := []time.Time{r.due}
	r.due = r.due.Add(r.interval)
	return fetchOf(&r.numbers, runnel.NewBatch(tick, nil).WithTimes([]time.Time{tick[0]})), nil
}

// wait waits until the next tick is due.
func (r *tickerReader) wait(ctx context.Context) error {
	c, stop := r.clock.After(r.due.Sub(r.clock.Now()))
	defer stop()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.closed:
		return runnel.ErrClosed
	}
}

// Commit has nobody to tell.
func (r *tickerReader) Commit(context.Context, checkpoint.Position) error { return nil }

// Close wakes a Read that waits.
func (r *tickerReader) Close(context.Context) error {
	r.once.Do(func() { close(r.closed) })
	return nil
}
