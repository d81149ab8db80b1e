package flow

import (
	"context"
	"time"

	"github.com/runnel-go/runnel"
)

// MapAsync turns every record into one of another value by a function that waits: for a network, a disk, a lock.
//
//	in   --1--2--3--------|
//	MapAsync(v → 10v, slow)
//	out  -----10--20--30--|
//
// Without [runnel.Parallel] one call runs at a time. With Parallel(n) up to n do; results come in the order of the input,
// or as they are ready with [runnel.Unordered], but never on the other side of a marker. Metadata stays as it is.
//
// The context has the values of Run's and ends at the hard stop; [runnel.Timeout] bounds each call, by the machine's
// clock, and f has to heed it: no call is left behind. An error or panic of f goes by the error policy, and so does
// context.DeadlineExceeded; context.Canceled does not: the run ends, and the record is read again. While a record is
// retried its worker waits.
func MapAsync[I, O any](s runnel.Stream[I], f func(context.Context, I) (O, error), opts ...runnel.StageOption) runnel.Stream[O] {
	open := func(env runnel.StageEnv) (runnel.Stage[I, O], error) { return newAsync(env, f), nil }
	return runnel.Apply(s, "map-async", nil, open, needs(f != nil, opts)...)
}

// promptly is how long a result may wait for others to be handed on with.
const promptly = time.Millisecond

type asyncStage[I, O any] struct {
	f       func(context.Context, I) (O, error)
	timeout time.Duration // 0: none
	clock   runnel.Clock
}

func newAsync[I, O any](env runnel.StageEnv, f func(context.Context, I) (O, error)) *asyncStage[I, O] {
	return &asyncStage[I, O]{f: f, timeout: env.Timeout, clock: env.Clock}
}

// Process maps a batch.
func (a *asyncStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return each(ctx, in, out, a)
}

func (a *asyncStage[I, O]) run(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) (int, error) {
	done := 0
	for done < in.Len() {
		rest := in.Slice(done, in.Len())
		vals := out.Buffer(rest.Len())
		n, err := a.calls(ctx, vals, rest.Values())
		out.EmitValues(vals[:n], rest.Columns())
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// calls maps values until one fails, or for so long that the results are to be handed on.
func (a *asyncStage[I, O]) calls(ctx context.Context, to []O, from []I) (n int, err error) {
	defer catch(&err)
	start, look := a.clock.Now(), 1
	for i, v := range from {
		n = i
		if i == look {
			more := lookAgain(i, a.clock.Now().Sub(start))
			if more == 0 || ctx.Err() != nil {
				return i, ctx.Err()
			}
			look += more
		}
		if to[i], err = a.call(ctx, v); err != nil {
			return i, err
		}
	}
	return len(from), nil
}

// lookAgain says after how many more calls to look at the clock, which costs as much as a short call: about half of
// those that fit into the time left. 0 means that no time is left.
func lookAgain(calls int, took time.Duration) int {
	left := promptly - took
	if left <= 0 {
		return 0
	}
	per := max(took/time.Duration(calls), 1)
	return 1 + int(left/per)/2
}

func (a *asyncStage[I, O]) call(ctx context.Context, v I) (O, error) {
	if a.timeout <= 0 {
		return a.f(ctx, v)
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.f(ctx, v)
}
