package engine

import (
	"context"
	"fmt"

	"github.com/sourcegraph/conc/panics"
	"golang.org/x/sync/errgroup"
)

// Group runs the goroutines of one attempt. The first that fails ends the context of all.
type Group struct {
	group  errgroup.Group
	ctx    context.Context //nolint:containedctx // a group is the scope of its context
	cancel context.CancelCauseFunc
}

// NewGroup returns a group and the context of its goroutines, which has the values of ctx and ends with it.
func NewGroup(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{ctx: ctx, cancel: cancel}, ctx
}

// Go runs f. A panic becomes an error that names the goroutine.
func (g *Group) Go(name string, f func(ctx context.Context) error) {
	g.group.Go(func() error { return g.Run(name, f) })
}

// Run runs f in the goroutine of the caller. If it fails, also by a panic or by ending the goroutine, as the FailNow of
// a test does, the context of all ends.
func (g *Group) Run(name string, f func(ctx context.Context) error) error {
	err := fmt.Errorf("%s: its goroutine was ended (runtime.Goexit)", name)
	defer func() {
		if err != nil {
			g.cancel(err)
		}
	}()
	err = Protect(name, func() error { return f(g.ctx) })
	return err
}

// Cancel ends the context of the goroutines with a cause.
func (g *Group) Cancel(cause error) { g.cancel(cause) }

// Wait returns when all goroutines have, with the cause that ended the context first, if anything failed.
func (g *Group) Wait() error {
	err := g.group.Wait()
	cause := context.Cause(g.ctx)
	g.cancel(nil)
	if cause != nil {
		return cause
	}
	return err
}

// Protect calls f and turns a panic into an error that names the goroutine.
func Protect(name string, f func() error) (err error) {
	if r := panics.Try(func() { err = f() }); r != nil {
		return fmt.Errorf("%s: %w", name, &PanicError{Value: r.Value, Stack: r.Stack})
	}
	return err
}

// PanicError is a panic of user code or of a connector, caught.
type PanicError struct {
	// Value is what panic was called with.
	Value any
	// Stack is the stack of the goroutine at that moment.
	Stack []byte
}

// Error returns the value and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
