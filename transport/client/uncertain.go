package client

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/runnel-go/runnel/transport/wire"
)

// keptOutcomes is how many outcomes of operations that were uncertain are remembered.
const keptOutcomes = 256

// errAbandoned ends the attempts to find out about a write that is given up.
var errAbandoned = errors.New("the operation was abandoned")

// retained are the writes whose outcome is uncertain, and what became of earlier ones.
type retained struct {
	mu       sync.Mutex
	writes   map[uint64]*retainedWrite // guarded by mu
	outcomes map[uint64]outcome        // guarded by mu
	order    []uint64                  // of outcomes, the oldest first; guarded by mu
}

// retainedWrite is a write with an uncertain outcome.
type retainedWrite struct {
	write *write
	turn  chan struct{} // holds one while the write is sent again
	gone  chan struct{} // closed when the write is given up, or its outcome known
}

// outcome is what became of a write.
type outcome struct {
	payload []byte
	err     error
}

// settle leaves the lanes of a write that has ended, or makes it one that is kept: its outcome is uncertain, and may still be
// found out.
func (c *Client) settle(w *write, err error) {
	if CodeOf(err) != wire.CodeOperationUncertain || !c.keep(w, err) {
		c.lanes.give(w.keys)
	}
}

// keep keeps a write if its session goes on, and blocks its lanes.
func (c *Client) keep(w *write, err error) bool {
	if errors.Is(err, wire.CodeHistoryUnavailable) {
		return false // a repeat would find the same
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == ShutDown || c.lineage != w.lineage || c.session == nil || c.session.client != w.session {
		return false
	}
	c.retained.mu.Lock()
	defer c.retained.mu.Unlock()
	if c.retained.writes == nil {
		c.retained.writes = map[uint64]*retainedWrite{}
	}
	c.retained.writes[w.header.Request] = &retainedWrite{
		write: w, turn: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	c.lanes.block(w.keys, w.header.Request)
	w.kept = true
	return true
}

// unretain gives up what is kept of an operation, and says whether there was anything.
func (c *Client) unretain(operation uint64) bool {
	c.retained.mu.Lock()
	r := c.retained.writes[operation]
	delete(c.retained.writes, operation)
	c.retained.mu.Unlock()
	if r == nil {
		return false
	}
	close(r.gone)
	c.lanes.unblock(operation)
	c.pending.give(len(*r.write.frame))
	return true
}

// dropRetained gives up all kept writes: their session is gone.
func (c *Client) dropRetained() {
	c.retained.mu.Lock()
	var all []uint64
	for operation := range c.retained.writes {
		all = append(all, operation)
	}
	c.retained.mu.Unlock()
	for _, operation := range all {
		c.unretain(operation)
	}
}

// ResolveOperation finds out what became of a write that failed with [wire.CodeOperationUncertain]: it is sent again as it
// was, which does it once in any case. It returns the payload of the reply, in memory of the caller, or why the server
// refused it, and is then remembered for a while: further calls return the same. If the time is up first, the outcome is still
// uncertain. The error is [wire.CodeOperationNotRetained] if nothing is known of such an operation: it was abandoned, its
// session has ended, or it was a read.
func (c *Client) ResolveOperation(ctx context.Context, operation uint64) ([]byte, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	r, known := c.lookUp(operation)
	if r == nil {
		return slices.Clone(known.payload), known.err
	}
	call, turn := r.write.command.String(), r.turn
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, &Error{
			Code: wire.CodeOperationUncertain, Call: call, Operation: operation, Err: context.Cause(ctx),
		}
	}
	defer func() { <-turn }()
	if r, known = c.lookUp(operation); r == nil {
		return slices.Clone(known.payload), known.err
	}
	got, err := c.drive(r.until(ctx), r.write)
	return c.resolved(operation, got, err)
}

// until returns a context that ends with ctx, which has to end, or when the write is given up: it is not to be sent any more
// then, behind what comes after it in its lanes.
func (r *retainedWrite) until(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-r.gone:
			cancel(errAbandoned)
		case <-ctx.Done():
			cancel(context.Cause(ctx))
		}
	}()
	return ctx
}

// resolved notes what became of an operation.
func (c *Client) resolved(operation uint64, got reply, err error) ([]byte, error) {
	uncertain := CodeOf(err) == wire.CodeOperationUncertain
	if uncertain && !errors.Is(err, ErrSessionReplaced) && !errors.Is(err, wire.CodeHistoryUnavailable) {
		return nil, err
	}
	if !uncertain {
		c.remember(operation, outcome{payload: slices.Clone(got.payload), err: err})
	}
	c.unretain(operation)
	return got.payload, err
}

// lookUp returns the kept write, or what is known of the operation without it.
func (c *Client) lookUp(operation uint64) (*retainedWrite, outcome) {
	c.retained.mu.Lock()
	defer c.retained.mu.Unlock()
	if r := c.retained.writes[operation]; r != nil {
		return r, outcome{}
	}
	if known, ok := c.retained.outcomes[operation]; ok {
		return nil, known
	}
	return nil, outcome{err: &Error{
		Code: wire.CodeOperationNotRetained, Call: "operation.resolve", Operation: operation,
	}}
}

func (c *Client) remember(operation uint64, o outcome) {
	r := &c.retained
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outcomes == nil {
		r.outcomes = map[uint64]outcome{}
	}
	r.outcomes[operation] = o
	r.order = append(r.order, operation)
	if len(r.order) > keptOutcomes {
		delete(r.outcomes, r.order[0])
		r.order = r.order[1:]
	}
}

// AbandonOperation frees the lanes that an operation with an uncertain outcome blocks: a write, or a read that stores
// offsets. It undoes nothing: what the operation was may have happened, or, for a short while, may happen still. The error is
// [wire.CodeOperationNotRetained] if the operation blocks nothing.
func (c *Client) AbandonOperation(operation uint64) error {
	if c.unretain(operation) || c.lanes.unblock(operation) {
		return nil
	}
	return &Error{Code: wire.CodeOperationNotRetained, Call: "operation.abandon", Operation: operation}
}
