package gostreams

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

const (
	partition       = "0" // there is one
	positionVersion = 1   // of the token: a version byte and an unsigned varint, how many elements were read
)

var errPosition = errors.New("gostreams: position")

func position(at int64) checkpoint.Position {
	return checkpoint.Position{partition: binary.AppendUvarint([]byte{positionVersion}, uint64(at))}
}

// parsePosition returns how many elements were read before a position.
func parsePosition(p checkpoint.Position) (int64, error) {
	token, ok := p[partition]
	if !ok {
		return 0, nil
	}
	if len(token) == 0 || token[0] != positionVersion {
		return 0, fmt.Errorf("%w: is not of version %d", errPosition, positionVersion)
	}
	n, read := binary.Uvarint(token[1:])
	if read <= 0 || read != len(token)-1 || int64(n) < 0 {
		return 0, fmt.Errorf("%w: is damaged", errPosition)
	}
	return int64(n), nil
}

// channelReader reads elements from a channel until it is closed.
type channelReader[T any] struct {
	in   <-chan any
	max  int // of elements in a fetch
	at   int64
	part *runnel.Assignment
}

func newChannelReader[T any](in <-chan any, env runnel.SourceEnv, at int64) *channelReader[T] {
	return &channelReader[T]{in: in, max: env.MaxBatch, at: at, part: runnel.NewAssignment(env.Name, partition)}
}

// Read waits for an element and returns it with those that are there.
func (r *channelReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	var f fetch[T]
	select {
	case element, ok := <-r.in:
		if !ok {
			return runnel.Fetch[T]{}, io.EOF
		}
		f.add(element, r)
	case <-ctx.Done():
		return runnel.Fetch[T]{}, ctx.Err()
	}
	for f.n < r.max {
		select {
		case element, ok := <-r.in:
			if !ok {
				return f.done(r), io.EOF
			}
			f.add(element, r)
		default:
			return f.done(r), nil
		}
	}
	return f.done(r), nil
}

// Commit has nothing to tell anybody.
func (r *channelReader[T]) Commit(context.Context, checkpoint.Position) error { return nil }

// fetch gathers elements.
type fetch[T any] struct {
	n       int
	values  []T
	offsets []int64
	failed  []runnel.Failed
}

func (f *fetch[T]) add(element any, r *channelReader[T]) {
	v, err := typed[T](element)
	if err != nil {
		at := runnel.Origin{Source: r.part.Source(), Partition: partition, Offset: r.at}
		f.failed = append(f.failed, runnel.Failed{Meta: runnel.Meta{Origin: at}, Value: element, Attempts: 1, Err: err})
	} else {
		f.values, f.offsets = append(f.values, v), append(f.offsets, r.at)
	}
	f.n++
	r.at++
}

func (f *fetch[T]) done(r *channelReader[T]) runnel.Fetch[T] {
	batch := runnel.NewBatch(f.values, nil).WithOffsets(r.part, f.offsets)
	return runnel.Fetch[T]{Batch: batch, Failed: f.failed, Position: position(r.at)}
}
