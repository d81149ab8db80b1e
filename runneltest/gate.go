package runneltest

import (
	"context"
	"fmt"
	"testing"
)

// Gate holds who comes to it until it is opened: a user function that calls [Gate.Pass], or the calls of a pipeline by
// a hook (see [Hold]). It is safe for concurrent use.
type Gate struct {
	guard
	open bool // guarded by mu
	pass int  // how many may pass although it is shut; guarded by mu
	held int  // who is being held; guarded by mu
}

// NewGate returns a gate that is shut.
func NewGate() *Gate { return &Gate{} }

// Pass returns nil once the gate is open, or the cause of the end of ctx.
func (g *Gate) Pass(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held++
	g.broadcast()
	err := g.wait(ctx, func() bool { return g.open || g.pass > 0 })
	g.held--
	if err == nil && !g.open {
		g.pass--
	}
	g.broadcast()
	return err
}

// Open lets everybody pass who is being held, and who comes until Shut.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
	g.broadcast()
}

// Let lets n pass who are being held, or come next, and leaves the gate shut.
func (g *Gate) Let(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass += n
	g.broadcast()
}

// Shut holds who comes from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.pass = false, 0
}

// AwaitHeld waits until n are being held at least.
func (g *Gate) AwaitHeld(tb testing.TB, n int) {
	tb.Helper()
	g.await(tb, func() bool { return g.held >= n }, func() string {
		return fmt.Sprintf("%d to come to a gate; it holds %d", n, g.held)
	})
}
