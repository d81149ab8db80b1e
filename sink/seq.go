package sink

import (
	"context"
	"iter"
	"sync"

	"github.com/runnel-go/runnel"
)

// Seq is a sink that the program reads as an iterator. Make it with [NewSeq], and range over [Seq.Run], which runs the
// pipeline:
//
//	out := sink.NewSeq[Flight]()
//	flights.To(out)
//	for flight, err := range out.Run(ctx, p) { … }
//
// A record is acknowledged once the body of the loop is through with it, and the pipeline does not run ahead of the
// loop by more than its channels hold.
type Seq[T any] struct {
	offers chan offer[T]
	once   sync.Once
	broken chan struct{} // closed when nothing is taken any more
}

// offer is a batch on its way from the writer to the loop.
type offer[T any] struct {
	batch runnel.Batch[T]
	taken chan struct{} // closed when the loop is through with it
}

// NewSeq returns an iterator sink, for one run.
func NewSeq[T any]() *Seq[T] {
	return &Seq[T]{offers: make(chan offer[T]), broken: make(chan struct{})}
}

// Run returns an iterator that runs p and gives the values that reach the sink, in order. The end of ctx is a clean
// stop: what was read until then is still given. If the run fails, its error comes last, with a zero value. Leaving the
// loop aborts the run: what was taken since the last checkpoint is not committed. When the loop is left, the run has
// ended.
func (s *Seq[T]) Run(ctx context.Context, p *runnel.Pipeline) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for record, err := range s.RunRecords(ctx, p) {
			if !yield(record.Value, err) {
				return
			}
		}
	}
}

// RunRecords is [Seq.Run] for a loop that wants the metadata too.
func (s *Seq[T]) RunRecords(ctx context.Context, p *runnel.Pipeline) iter.Seq2[runnel.Record[T], error] {
	return func(yield func(runnel.Record[T], error) bool) {
		result := make(chan error, 1)
		go func() { result <- p.Run(ctx) }()
		ended := false
		defer func() {
			s.once.Do(func() { close(s.broken) })
			if !ended {
				p.Abort()
				<-result
			}
		}()
		for {
			select {
			case o := <-s.offers:
				if !o.take(yield) {
					return
				}
			case err := <-result:
				ended = true
				if err != nil {
					yield(runnel.Record[T]{}, err)
				}
				return
			}
		}
	}
}

// take gives the records of an offer to the loop, and says whether it wants more.
func (o offer[T]) take(yield func(runnel.Record[T], error) bool) bool {
	for i := range o.batch.Len() {
		if !yield(o.batch.Record(i), nil) {
			return false
		}
	}
	close(o.taken)
	return true
}

// Describe names the kind.
func (s *Seq[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "seq"} }

// Open has nothing to open.
func (s *Seq[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	return seqWriter[T]{s}, nil
}

type seqWriter[T any] struct{ s *Seq[T] }

// Write waits until the loop is through with the batch. Errors: [runnel.ErrClosed] if the loop was left.
func (w seqWriter[T]) Write(ctx context.Context, batch runnel.Batch[T]) error {
	o := offer[T]{batch: batch.Clone(), taken: make(chan struct{})} // the loop may still be at it when ctx ends
	select {
	case w.s.offers <- o:
	case <-w.s.broken:
		return runnel.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-o.taken:
		return nil
	case <-w.s.broken:
		return runnel.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Flush has nothing to do: Write waits.
func (w seqWriter[T]) Flush(context.Context) error { return nil }

// Close has nothing to do.
func (w seqWriter[T]) Close(context.Context) error { return nil }
