package gostreams

import (
	"context"

	streams "github.com/reugn/go-streams"
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// part is a pipeline that runs as a part of a go-streams pipeline. It starts when it is connected.
type part struct {
	in    chan any // nil: it takes nothing
	out   chan any // nil: it gives nothing
	start func()   // more than once has no further effect
	done  chan struct{}
	err   error // of the run; set before done is closed
}

// run runs the pipeline, and then sees to it that nobody waits for it.
func (p *part) run(ctx context.Context, pipeline *runnel.Pipeline) {
	p.err = pipeline.Run(ctx)
	close(p.done)
	if p.out != nil {
		close(p.out)
	}
	if p.in != nil { // who sends to a pipeline that has failed must not be held up for ever
		for range p.in {
		}
	}
}

// wait returns the error of the run once it has ended.
func (p *part) wait() error {
	p.start()
	<-p.done
	return p.err
}

// via starts the part and passes what it gives on to a flow.
func (p *part) via(to streams.Flow) streams.Flow {
	p.start()
	go transmit(p.out, to)
	return to
}

// inlet is the source of a part: what go-streams puts in.
type inlet[T any] struct{ in <-chan any }

// Describe says that the source cannot be read again.
func (i *inlet[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "inlet"} }

// Open reads on.
func (i *inlet[T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	at, err := parsePosition(from)
	if err != nil {
		return nil, err
	}
	return inletReader[T]{newChannelReader[T](i.in, env, at)}, nil
}

type inletReader[T any] struct{ *channelReader[T] }

// Close leaves the channel to the part.
func (inletReader[T]) Close(context.Context) error { return nil }

// outlet is the sink of a part: what go-streams takes out.
type outlet[T any] struct{ out chan<- any }

// Describe names the kind.
func (o *outlet[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "outlet"} }

// Open returns the outlet itself.
func (o *outlet[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) { return o, nil }

// Write hands values to go-streams.
func (o *outlet[T]) Write(ctx context.Context, batch runnel.Batch[T]) error {
	for _, v := range batch.Values() {
		select {
		case o.out <- v:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Flush has nothing to do: what was handed over is delivered.
func (o *outlet[T]) Flush(context.Context) error { return nil }

// Close leaves the channel to the part.
func (o *outlet[T]) Close(context.Context) error { return nil }
