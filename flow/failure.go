package flow

import (
	"context"
	"runtime/debug"

	"github.com/runnel-go/runnel"
)

// section is an operator as far as it calls functions of the user.
type section[I, O any] interface {
	// run handles the records of a batch in turn until one fails. It returns how many it has handled, and why the one
	// behind these failed; nothing of that one was emitted.
	run(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) (int, error)
}

// each runs a section over a batch. A record that fails is settled, and the section goes on behind it.
func each[I, O any](ctx context.Context, in runnel.Batch[I], out *runnel.Out[O], s section[I, O]) error {
	for in.Len() > 0 {
		n, err := s.run(ctx, in, out)
		if err == nil {
			return nil
		}
		failed := in.Slice(n, n+1)
		_, err = settle(ctx, failed, out, err, func() error {
			_, err := s.run(ctx, failed, out)
			return err
		})
		if err != nil {
			return err
		}
		in = in.Slice(n+1, in.Len())
	}
	return nil
}

// settle brings a record that failed with cause to an end: it is tried again, then goes by the stage's error policy. It
// says whether a try succeeded. An error is for Process to return: it ends the run.
func settle[I, O any](ctx context.Context, failed runnel.Batch[I], out *runnel.Out[O], cause error, again func() error) (ok bool, err error) {
	if cause = out.Retry(ctx, cause, again); cause == nil {
		return true, nil
	}
	return false, out.Fail(failed.Values()[0], failed.Meta(0), cause)
}

// catch turns a panic into the error of the record at hand. It is deferred once for many records, because a defer for
// each would cost as much as a call of the user's function.
func catch(err *error) {
	if r := recover(); r != nil {
		*err = &runnel.PanicError{Value: r, Stack: debug.Stack()}
	}
}
