package runneltest

import (
	"context"
	"fmt"
	"strings"
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

// await waits until ready, and fails the test with what after a long time, or when a run of the test ends with an error
// meanwhile. The lock is not held; ready and what are called with it.
func (g *guard) await(tb testing.TB, ready func() bool, what func() string) {
	tb.Helper()
	var failure error // of a run that ended meanwhile; guarded by mu
	before, stop := failures.watch(tb, func(err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		failure = err
		g.broadcast()
	})
	defer stop()
	if message := g.vain(ready, what, &failure); message != "" {
		tb.Fatalf("runneltest: waited in vain for %s%s", message, toldOf(before))
	}
}

// vain waits until ready, and returns what it waited for in vain.
func (g *guard) vain(ready func() bool, what func() string, failure *error) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.wait(ctx, func() bool { return ready() || *failure != nil })
	switch {
	case err == nil && ready():
		return ""
	case *failure != nil:
		return fmt.Sprintf("%s: a run ended with: %v", what(), *failure)
	}
	return what()
}

// toldOf returns the errors of runs that ended before a wait began, which may be meant to have failed.
func toldOf(before []error) string {
	var told strings.Builder
	for _, err := range before {
		fmt.Fprintf(&told, "; before, a run ended with: %v", err)
	}
	return told.String()
}
