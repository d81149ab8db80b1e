package runneltest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// patience is how long the test kit waits before it takes a test for stuck: far longer than any step takes on a busy
// machine.
const patience = 30 * time.Second

// guard is a lock whose holders can wait for a change of what it guards.
type guard struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced on a change; nil if nobody waits
}

// broadcast wakes everybody who waits. The lock is held.
func (g *guard) broadcast() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

func (g *guard) next() <-chan struct{} {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

// wait waits until ready, which is called with the lock held, or the end of ctx. The lock is held.
func (g *guard) wait(ctx context.Context, ready func() bool) error {
	for !ready() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		changed := g.next()
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		g.mu.Lock()
	}
	return nil
}

// await waits until ready, and fails the test with what after a long time. The lock is not held; ready and what are
// called with it.
func (g *guard) await(tb testing.TB, ready func() bool, what func() string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g.mu.Lock()
	err := g.wait(ctx, ready)
	var message string
	if err != nil {
		message = what()
	}
	g.mu.Unlock()
	if err != nil {
		tb.Fatalf("runneltest: waited in vain for %s", message)
	}
}
