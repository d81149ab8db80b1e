// Package ending holds what every client's link has to do with its end: it comes once, for one reason, and ends every
// wait.
package ending

import (
	"context"
	"sync"
)

// Ending is the end of a link. It is safe for concurrent use.
type Ending struct {
	once   sync.Once
	reason error // set before done is closed
	done   chan struct{}
}

// New returns the ending of a link that has not ended.
func New() *Ending { return &Ending{done: make(chan struct{})} }

// End ends the link for a reason, and then calls last. Only the first call does anything.
func (e *Ending) End(reason error, last func()) {
	e.once.Do(func() {
		e.reason = reason
		close(e.done)
		last()
	})
}

// Done is closed when the link has ended.
func (e *Ending) Done() <-chan struct{} { return e.done }

// Err says why the link ended; nil if it has not.
func (e *Ending) Err() error {
	select {
	case <-e.done:
		return e.reason
	default:
		return nil
	}
}

// Take waits for a place in a channel that counts them, until ctx or the link ends.
func (e *Ending) Take(ctx context.Context, places chan<- struct{}) error {
	switch { // the select below would choose at random
	case e.Err() != nil:
		return e.reason
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.done:
		return e.reason
	}
}
