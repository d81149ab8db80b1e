package runneltest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
)

// Clock is a clock that stands still until the test moves it. Give it to a pipeline with [runnel.WithClock]. It is safe
// for concurrent use.
type Clock struct {
	guard
	now   time.Time // guarded by mu
	waits []*wait   // guarded by mu
}

var _ runnel.Clock = (*Clock)(nil)

type wait struct {
	at time.Time
	c  chan time.Time
}

// NewClock returns a clock that shows start; the zero time stands for the year 2000.
func NewClock(start time.Time) *Clock {
	if start.IsZero() {
		start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return &Clock{now: start}
}

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After returns a channel that receives once the clock was moved by d or more in all, and a function that gives the
// wait up.
func (c *Clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &wait{at: c.now.Add(d), c: make(chan time.Time, 1)}
	if d <= 0 {
		w.c <- c.now
		return w.c, func() {}
	}
	c.waits = append(c.waits, w)
	c.broadcast()
	return w.c, func() { c.giveUp(w) }
}

func (c *Clock) giveUp(w *wait) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waits, w); i >= 0 {
		c.waits = slices.Delete(c.waits, i, i+1)
	}
}

// Advance moves the clock and wakes, in the order of their times, all whose time has come. It does not wait for what
// they do then. Who is about to wait is not seen yet: use [Clock.AwaitTimer] before.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	slices.SortStableFunc(c.waits, func(a, b *wait) int { return a.at.Compare(b.at) })
	for len(c.waits) > 0 && !c.waits[0].at.After(c.now) {
		c.waits[0].c <- c.now // has room for one, and gets one
		c.waits = c.waits[1:]
	}
}

// Timers returns how many waits there are.
func (c *Clock) Timers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waits)
}

// AwaitTimer waits until somebody waits for exactly the moment that is d away.
func (c *Clock) AwaitTimer(tb testing.TB, d time.Duration) {
	tb.Helper()
	c.await(tb, func() bool {
		return slices.ContainsFunc(c.waits, func(w *wait) bool { return w.at.Equal(c.now.Add(d)) })
	}, func() string {
		var have []time.Duration
		for _, w := range c.waits {
			have = append(have, w.at.Sub(c.now))
		}
		return fmt.Sprintf("a timer of %v; there are %v", d, have)
	})
}
