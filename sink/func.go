package sink

import (
	"context"
	"errors"

	"github.com/runnel-go/runnel"
)

// FuncOption sets what is known of the function of a sink.
type FuncOption interface{ applyFunc(*runnel.Traits) }

type funcOption func(*runnel.Traits)

func (o funcOption) applyFunc(t *runnel.Traits) { o(t) }

// Idempotent says that calling the function again for the same record does no harm, so that [runnel.Retry] may do it
// after any error. The default is that it may only after one that is [runnel.Retryable].
func Idempotent() FuncOption {
	return funcOption(func(t *runnel.Traits) { t.Idempotent = true })
}

// Func returns a sink that calls f for each value, one after the other. An error is that of the record: it goes by the
// error policy of the sink, while the records behind it are still given to f. A record that [runnel.Retry] repeats comes
// after these. f returns soon with any error when its context ends.
func Func[T any](f func(ctx context.Context, value T) error, opts ...FuncOption) runnel.Sink[T] {
	if f == nil {
		return newFunc[T](nil, opts)
	}
	return newFunc(each(func(ctx context.Context, b runnel.Batch[T], i int) error {
		return f(ctx, b.Values()[i])
	}), opts)
}

// FuncRecord is [Func] for a function that wants the metadata too.
func FuncRecord[T any](f func(ctx context.Context, record runnel.Record[T]) error, opts ...FuncOption) runnel.Sink[T] {
	if f == nil {
		return newFunc[T](nil, opts)
	}
	return newFunc(each(func(ctx context.Context, b runnel.Batch[T], i int) error {
		return f(ctx, b.Record(i))
	}), opts)
}

// FuncBatch returns a sink that calls f for each batch, which is valid until f returns. An error concerns the whole
// batch and ends the run, or is retried; but a *[runnel.BatchError] names the records that failed, and these go by the
// error policy of the sink. f returns soon with any error when its context ends.
func FuncBatch[T any](f func(ctx context.Context, batch runnel.Batch[T]) error, opts ...FuncOption) runnel.Sink[T] {
	return newFunc(f, opts)
}

func newFunc[T any](f func(context.Context, runnel.Batch[T]) error, opts []FuncOption) runnel.Sink[T] {
	s := &funcSink[T]{f: f, traits: runnel.Traits{Kind: "func"}}
	for _, o := range opts {
		if o == nil {
			s.nilOption = true
			continue
		}
		o.applyFunc(&s.traits)
	}
	return s
}

// each calls f for each record and gathers those that failed. The end of ctx is no failure of a record.
func each[T any](f func(ctx context.Context, b runnel.Batch[T], i int) error) func(context.Context, runnel.Batch[T]) error {
	return func(ctx context.Context, b runnel.Batch[T]) error {
		var failed *runnel.BatchError[T]
		for i := range b.Len() {
			var err error
			if ctx.Err() == nil {
				err = f(ctx, b, i)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				continue
			}
			if failed == nil {
				failed = &runnel.BatchError[T]{}
			}
			failed.Failed, failed.Errs = append(failed.Failed, b.Record(i)), append(failed.Errs, err)
		}
		if failed == nil {
			return nil
		}
		return failed
	}
}

type funcSink[T any] struct {
	f      func(context.Context, runnel.Batch[T]) error
	traits runnel.Traits

	nilOption bool // one of the options was nil
}

// Describe says what the options say.
func (s *funcSink[T]) Describe() runnel.Traits { return s.traits }

// Validate refuses a nil function and a nil option.
func (s *funcSink[T]) Validate() error {
	var errs []error
	if s.f == nil {
		errs = append(errs, errors.New("the function is nil"))
	}
	if s.nilOption {
		errs = append(errs, errors.New("an option is nil"))
	}
	return errors.Join(errs...)
}

// Open has nothing to open.
func (s *funcSink[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	return funcWriter[T]{s.f}, nil
}

type funcWriter[T any] struct {
	f func(context.Context, runnel.Batch[T]) error
}

// Write calls the function.
func (w funcWriter[T]) Write(ctx context.Context, batch runnel.Batch[T]) error {
	return w.f(ctx, batch)
}

// Flush has nothing to do.
func (w funcWriter[T]) Flush(context.Context) error { return nil }

// Close has nothing to do.
func (w funcWriter[T]) Close(context.Context) error { return nil }
