package flow_test

import (
	"context"
	"io"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

// partitions is a source of one record for each of its assignments, in turn.
type partitions []*runnel.Assignment

func (p partitions) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[int], error) {
	return &partitionReader{parts: p}, nil
}

type partitionReader struct {
	parts partitions
	at    int
}

func (r *partitionReader) Read(context.Context) (runnel.Fetch[int], error) {
	if r.at == len(r.parts) {
		return runnel.Fetch[int]{}, io.EOF
	}
	part := r.parts[r.at]
	batch := runnel.NewBatch([]int{r.at}, nil).WithOrigin(part, int64(r.at))
	r.at++
	return runnel.Fetch[int]{Batch: batch, Position: checkpoint.Position{part.Partition(): []byte{byte(r.at)}}}, nil
}

func (r *partitionReader) Commit(context.Context, checkpoint.Position) error { return nil }
func (r *partitionReader) Close(context.Context) error                       { return nil }

// TestBatchOfSeveralPartitionsOutlivesOneOfThem gives a partition up while a batch is on its way to the sink. What came
// of that partition alone is dropped, as its next owner reads it again; a batch with records of others is not, because
// nobody would read these again.
func TestBatchOfSeveralPartitionsOutlivesOneOfThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from []string // partition of each record
		want [][]int
	}{
		"alone":              {[]string{"a", "a"}, nil},
		"given up first":     {[]string{"a", "b"}, [][]int{{0, 1}}},
		"given up last":      {[]string{"b", "a"}, [][]int{{0, 1}}},
		"given up in middle": {[]string{"b", "a", "b"}, [][]int{{0, 1, 2}}},
		"not in the batch":   {[]string{"b", "b"}, [][]int{{0, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := map[string]*runnel.Assignment{"a": runnel.NewAssignment("src", "a"), "b": runnel.NewAssignment("src", "b")}
			var src partitions
			for _, name := range c.from {
				src = append(src, parts[name])
			}
			p, out := runnel.New("test"), &bag[[]int]{}
			batches := flow.Batch(runnel.From[int](p, src, runnel.Name("src")), len(c.from), 0)
			flow.Tap(batches, func([]int) { parts["a"].Revoke() }).To(out)
			require.NoError(t, p.Run(context.Background()))
			require.Equal(t, c.want, out.values())
			for _, r := range out.got() {
				require.Equal(t, runnel.Origin{Source: "src", Partition: c.from[0]}.String(), r.Origin.String())
			}
		})
	}
}
