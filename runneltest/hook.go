package runneltest

import (
	"context"
	"sync"
)

// Op is a kind of call that a pipeline makes to the outside.
type Op string

// The calls of a pipeline.
const (
	// OpOpenSource to OpCloseSource are the calls of a source and its reader.
	OpOpenSource   Op = "open source"
	OpRead         Op = "read"
	OpCommitSource Op = "commit source"
	OpAbandon      Op = "abandon"
	OpCloseSource  Op = "close source"
	// OpOpenSink to OpCloseSink are the calls of a sink and its writer.
	OpOpenSink  Op = "open sink"
	OpWrite     Op = "write"
	OpFlush     Op = "flush"
	OpBarrier   Op = "barrier"
	OpPrepare   Op = "prepare"
	OpCommit    Op = "commit"
	OpAbort     Op = "abort"
	OpDecide    Op = "decide"
	OpDecided   Op = "decided"
	OpCloseSink Op = "close sink"
	// OpOpenStore to OpCloseStore are the calls of a checkpoint store.
	OpOpenStore  Op = "open store"
	OpLoad       Op = "load"
	OpSave       Op = "save"
	OpRewind     Op = "rewind"
	OpCloseStore Op = "close store"
	// OpUser is a call of [Process.Step] by user code.
	OpUser Op = "user code"
)

// Call is a call of a pipeline to the outside.
type Call struct {
	// Op is its kind.
	Op Op
	// Nth counts the calls of that kind to this source, sink or store, over all attempts and runs, from 1.
	Nth int
	// After says that the call has been made: its effect is there, and an error only hides that from the pipeline.
	After bool
}

// Hook is called before each call of a pipeline to the outside, and again after it if it succeeded. Before: an error
// is returned in place of the call, which is not made. After: an error is returned although the call was made, as when
// an answer is lost. A hook that waits stalls the call, and returns when ctx ends. It is called from many goroutines.
type Hook func(ctx context.Context, c Call) error

// Hooks joins hooks into one, which asks them in order until one returns an error.
func Hooks(all ...Hook) Hook {
	return func(ctx context.Context, c Call) error {
		for _, h := range all {
			if err := h(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
}

// FailAt makes a call fail without effect: the nth of that kind, or each if nth is 0.
func FailAt(op Op, nth int, err error) Hook {
	return func(_ context.Context, c Call) error {
		if !c.After && c.Op == op && (nth == 0 || c.Nth == nth) {
			return err
		}
		return nil
	}
}

// LoseAnswer makes a call have its effect and fail all the same: the nth of that kind, or each if nth is 0.
func LoseAnswer(op Op, nth int, err error) Hook {
	return func(_ context.Context, c Call) error {
		if c.After && c.Op == op && (nth == 0 || c.Nth == nth) {
			return err
		}
		return nil
	}
}

// Hold holds a call at a gate before it is made: the nth of that kind, or each if nth is 0.
func Hold(op Op, nth int, g *Gate) Hook {
	return func(ctx context.Context, c Call) error {
		if !c.After && c.Op == op && (nth == 0 || c.Nth == nth) {
			return g.Pass(ctx)
		}
		return nil
	}
}

// hooked numbers the calls to one source, sink or store and gives them to a hook.
type hooked struct {
	hook Hook

	mu    sync.Mutex
	count map[Op]int // guarded by mu
}

func newHooked(h Hook) *hooked { return &hooked{hook: h, count: make(map[Op]int)} }

// call makes a call with the hook around it.
func (h *hooked) call(ctx context.Context, op Op, f func() error) error {
	c, err := h.before(ctx, op)
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	c.After = true
	return h.hook(ctx, c)
}

// before numbers a call and asks the hook.
func (h *hooked) before(ctx context.Context, op Op) (Call, error) {
	h.mu.Lock()
	h.count[op]++
	c := Call{Op: op, Nth: h.count[op]}
	h.mu.Unlock()
	return c, h.hook(ctx, c)
}
