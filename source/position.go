package source

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

const (
	// partition is the name of the one partition that each of these sources has.
	partition = "0"
	// maxRecords is the number of records of a source that does not end.
	maxRecords = math.MaxInt64
)

var errNilFunc = errors.New("the function is nil")

// startAt returns the number of the record that a position says is read next; 0 if it says nothing.
func startAt(from checkpoint.Position) (int64, error) {
	token := from[partition]
	if token == nil {
		return 0, nil
	}
	next, _, err := checkpoint.ParseOffset(token)
	if err == nil && next < 0 {
		err = fmt.Errorf("offset %d is negative", next)
	}
	if err != nil {
		return 0, fmt.Errorf("source: start position: %w", err)
	}
	return next, nil
}

// behindEnd is the error of data that is shorter than it was when the checkpoint was taken.
func behindEnd(kind string, at, n int64) error {
	return fmt.Errorf("source: %s: the start position is record %d, but there are only %d: "+
		"it is not the data that the checkpoint was taken of", kind, at, n)
}

// failed gives an error of the user's its place. One that wraps io.EOF is not the end of the source.
func failed(kind string, record int64, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("source: %s: record %d: %w (%s)", kind, record, io.ErrUnexpectedEOF, err.Error())
	}
	return fmt.Errorf("source: %s: record %d: %w", kind, record, err)
}

func positionAt(next int64) checkpoint.Position {
	return checkpoint.Position{partition: checkpoint.OffsetToken(next, nil)}
}

// maxBatch returns how many records a fetch may have.
func maxBatch(env runnel.SourceEnv) int64 { return int64(max(env.MaxBatch, 1)) }

// offsets compares the positions of a source whose tokens are offsets.
type offsets struct{}

// ComparePosition compares the offsets; tokens that are none compare as equal.
func (offsets) ComparePosition(_ string, a, b []byte) int {
	c, err := checkpoint.CompareOffsets(a, b)
	if err != nil {
		return 0
	}
	return c
}

// sequence numbers the records of a source that does not number them itself.
type sequence struct {
	a    *runnel.Assignment
	next int64
}

func newSequence(env runnel.SourceEnv, from checkpoint.Position) (sequence, error) {
	next, err := startAt(from)
	return sequence{a: runnel.NewAssignment(env.Name, partition), next: next}, err
}

// fetchOf returns the next records of a sequence, with the position behind them. The batch is given away.
func fetchOf[T any](s *sequence, b runnel.Batch[T]) runnel.Fetch[T] {
	first := s.next
	s.next += int64(b.Len())
	return runnel.Fetch[T]{Batch: b.WithOrigin(s.a, first), Position: positionAt(s.next)}
}
