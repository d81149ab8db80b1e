package gostreams

import (
	"context"
	"time"

	streams "github.com/reugn/go-streams"
	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Source returns a source that reads a source of go-streams, which open makes for each attempt of a run.
//
// It cannot be read again: what was read and not committed when a run fails is lost, so delivery is at most once from
// here on. An element that is not a T goes by the error policy of the source.
//
// open gets a context that has the values of Run's and ends when the source is closed; a source of go-streams takes it by
// an option and ends with it. One that does not is left to itself a second after the run: its goroutine stays until
// somebody reads it to the end.
func Source[T any](open func(ctx context.Context) (streams.Source, error)) runnel.Source[T] {
	return &source[T]{open: open}
}

// endWait is how long Close waits for a source whose context has ended.
const endWait = time.Second

type source[T any] struct {
	open func(ctx context.Context) (streams.Source, error)
}

// Describe says that the source cannot be read again.
func (s *source[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "go-streams"} }

// Validate returns what is wrong with the source.
func (s *source[T]) Validate() error {
	if s.open == nil {
		return errNoFactory
	}
	return nil
}

// Open makes the source of go-streams. The position only counts on.
func (s *source[T]) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	at, err := parsePosition(from)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	src, err := s.open(ctx)
	if err == nil && src == nil {
		err = errNoPart
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &sourceReader[T]{channelReader: newChannelReader[T](src.Out(), env, at), cancel: cancel}, nil
}

type sourceReader[T any] struct {
	*channelReader[T]
	cancel context.CancelFunc
}

// Close ends the source and takes what it still has to give, so that its goroutine ends.
func (r *sourceReader[T]) Close(ctx context.Context) error {
	r.cancel()
	ctx, done := context.WithTimeout(ctx, endWait)
	defer done()
	for {
		select {
		case _, ok := <-r.in:
			if !ok {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}
