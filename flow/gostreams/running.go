package gostreams

import (
	"context"
	"sync"

	streams "github.com/reugn/go-streams"
)

// running is a flow of go-streams in use. Its goroutines end once its inlet is closed and its outlet was read to the
// end; if the run ends before that, running sees to it.
type running struct {
	in      chan<- any
	out     <-chan any
	unwatch func() bool

	mu     sync.Mutex // held while something is put in, because a channel must not be closed then
	closed bool       // the inlet is closed; guarded by mu
}

// watch returns a flow that is given up when ctx ends, unless unwatch is called before.
func watch(ctx context.Context, flow streams.Flow) *running {
	r := &running{in: flow.In(), out: flow.Out()}
	r.unwatch = context.AfterFunc(ctx, r.giveUp)
	return r
}

// closeIn closes the inlet. The lock is held.
func (r *running) closeIn() {
	if !r.closed {
		r.closed = true
		close(r.in)
	}
}

// giveUp lets the goroutines of the flow end.
func (r *running) giveUp() {
	r.mu.Lock()
	r.closeIn()
	r.mu.Unlock()
	for range r.out {
	}
}
