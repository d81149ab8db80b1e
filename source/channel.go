package source

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// Channel returns a source of what comes through a channel, until it is closed. A batch is what is waiting: it does not
// wait to become full. The channel cannot be read again, so what was taken from it and not committed is lost with a
// failure: at most once. To be told, use [Push].
func Channel[T any](values <-chan T) runnel.Source[T] {
	return channelSource[T, T]{values: values, batch: func(values []T) runnel.Batch[T] {
		return runnel.NewBatch(values, nil)
	}}
}

// ChannelRecords returns a source of records with their keys, times and headers, and otherwise as [Channel] does. Their
// origin becomes this source.
func ChannelRecords[T any](records <-chan runnel.Record[T]) runnel.Source[T] {
	return channelSource[runnel.Record[T], T]{values: records, batch: batchOf[T]}
}

type channelSource[E, T any] struct {
	values <-chan E
	batch  func([]E) runnel.Batch[T]
}

// Describe says that the source cannot be read again.
func (s channelSource[E, T]) Describe() runnel.Traits { return runnel.Traits{Kind: "channel"} }

// Validate refuses a nil channel, from which nothing would ever come.
func (s channelSource[E, T]) Validate() error {
	if s.values == nil {
		return errors.New("the channel is nil")
	}
	return nil
}

// Open numbers the records on from a position.
func (s channelSource[E, T]) Open(_ context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	numbers, err := newSequence(env, from)
	if err != nil {
		return nil, err
	}
	return &channelReader[E, T]{
		channelSource: s, max: int(maxBatch(env)), numbers: numbers, closed: make(chan struct{}),
	}, nil
}

// channelReader reads a channel.
type channelReader[E, T any] struct {
	offsets
	channelSource[E, T]
	max     int
	numbers sequence
	once    sync.Once
	closed  chan struct{}
}

// Read waits for one value and takes what else is there.
func (r *channelReader[E, T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	if ctx.Err() != nil {
		return runnel.Fetch[T]{}, context.Cause(ctx) // nothing is taken that would be lost
	}
	select {
	case v, ok := <-r.values:
		if !ok {
			return runnel.Fetch[T]{}, io.EOF
		}
		return fetchOf(&r.numbers, r.batch(r.waiting(v))), nil
	case <-ctx.Done():
		return runnel.Fetch[T]{}, context.Cause(ctx)
	case <-r.closed:
		return runnel.Fetch[T]{}, runnel.ErrClosed
	}
}

// waiting returns what is in the channel, behind its first value.
func (r *channelReader[E, T]) waiting(first E) []E {
	values := make([]E, 1, min(len(r.values)+1, r.max))
	values[0] = first
	for len(values) < r.max {
		select {
		case v, ok := <-r.values:
			if !ok {
				return values // the next Read finds it closed
			}
			values = append(values, v)
		default:
			return values
		}
	}
	return values
}

// Commit has nobody to tell.
func (r *channelReader[E, T]) Commit(context.Context, checkpoint.Position) error { return nil }

// Close wakes a Read that waits. The channel stays open.
func (r *channelReader[E, T]) Close(context.Context) error {
	r.once.Do(func() { close(r.closed) })
	return nil
}
