package iggysource

import (
	"sync"
	"time"
)

// tickingClock is a clock of a server that goes faster than others, or only when it is told: waits of a server that take half
// a minute are over soon.
type tickingClock struct {
	mu     sync.Mutex
	ahead  time.Duration // guarded by mu
	faster time.Duration
}

func newTickingClock() *tickingClock { return &tickingClock{faster: 1} }

// Now returns the time with what it is ahead.
func (c *tickingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// After waits for a part of the time only.
func (c *tickingClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d / c.faster)
	return t.C, func() { t.Stop() }
}

// advance moves the clock on by a second and returns the new time.
func (c *tickingClock) advance() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += time.Second
	return time.Now().Add(c.ahead).Add(-time.Second / 2)
}
