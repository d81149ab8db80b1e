package runnel_test

import (
	"context"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

// TestEmitRowGivesEachResultTheMetadataOfItsRecord expands records of which some have keys, times and headers.
func TestEmitRowGivesEachResultTheMetadataOfItsRecord(t *testing.T) {
	t.Parallel()
	var records []runnel.Record[int]
	for i := range 50 {
		r := runnel.Record[int]{Value: i}
		if i%3 == 0 {
			r.Key = []byte{byte(i)}
		}
		if i > 20 {
			r.Time = time.Unix(int64(i), 0)
		}
		if i%7 == 0 {
			r.Headers = runnel.Headers{{Name: "i", Value: []byte{byte(i)}}}
		}
		records = append(records, r)
	}
	p := runnel.New("rows", runnel.MaxBatch(8))
	got := sink.NewSlice[int]()
	in := runnel.From(p, source.SliceRecords(records), runnel.Name("in"))
	flow.FlatMap(in, func(v int) []int { return make([]int, v%3) }).To(got)
	require.NoError(t, p.Run(t.Context()))
	var want []runnel.Meta
	for i, r := range records {
		for range i % 3 {
			want = append(want, r.Meta)
		}
	}
	require.Len(t, got.Records(), len(want))
	for i, r := range got.Records() {
		require.Equal(t, want[i].Key, r.Key)
		require.True(t, want[i].Time.Equal(r.Time))
		require.Equal(t, want[i].Headers, r.Headers)
		require.Equal(t, "in", r.Origin.Source)
	}
}

// Values without size have one address, so that it does not tell whose they are.
func TestValuesWithoutSizeAreAllEmitted(t *testing.T) {
	t.Parallel()
	p, n := runnel.New("p"), 0
	s := runnel.From(p, source.Slice([]int{1, 2, 3}))
	runnel.Apply(s, "unit", nil, func(runnel.StageEnv) (runnel.Stage[int, struct{}], error) {
		return stage[int, struct{}](func(_ context.Context, in runnel.Batch[int], out *runnel.Out[struct{}]) error {
			out.Emit(struct{}{}, in.Meta(0))
			out.EmitValues(make([]struct{}, 3), in.Columns())
			out.EmitValues(out.Buffer(3), in.Columns())
			return nil
		}), nil
	}).To(sink.Func(func(context.Context, struct{}) error { n++; return nil }))
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, 7, n)
}
