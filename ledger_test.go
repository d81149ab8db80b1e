package runnel_test

import (
	"context"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// batcher collects records in its state, and emits them three by three. It says of each what became of it, but for
// those that it loses.
type batcher struct {
	held []int
	lose int
}

func (s *batcher) Process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	for _, v := range in.Values() {
		if v == s.lose {
			continue
		}
		if v%2 == 1 {
			out.Filtered(1)
			continue
		}
		if s.held = append(s.held, v); len(s.held) == 3 {
			out.Emit(s.held[0], runnel.Meta{})
			out.Passed(3)
			s.held = nil
		}
	}
	return nil
}

func (s *batcher) Held() int { return len(s.held) }

func (s *batcher) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	for _, v := range s.held {
		w.Put([]byte{byte(v)}, nil)
	}
	return nil
}

func (s *batcher) Restore(r runnel.SnapshotReader) error {
	r.All(func(key, _ []byte) bool { s.held = append(s.held, int(key[0])); return true })
	return nil
}

func batched(s runnel.Stream[int], lose int) runnel.Stream[int] {
	return runnel.Apply(s, "batch", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
		return &batcher{lose: lose}, nil
	}, runnel.Stateful())
}

func TestRecordWithoutAnOutcomeIsAnErrorAtTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	p := runnel.New("p")
	batched(runnel.From(p, &numbers{n: 10}), 4).To(&collect[int]{})
	require.EqualError(t, p.Run(t.Context()), "runnel: ledger: batch-1 received 10 records and has counted an outcome for 9: "+
		"a stage that calls Out.Passed or Out.Filtered accounts for every record it receives")
}

// counter is a stage that drops every record and emits how many there were, at each marker.
type counter struct {
	n    int
	says func(out *runnel.Out[int], n int) // how it accounts for records
}

func (c *counter) Process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	c.n += in.Len()
	c.says(out, in.Len())
	return nil
}

func (c *counter) Flush(_ context.Context, out *runnel.Out[int]) error {
	out.Emit(c.n, runnel.Meta{})
	return nil
}

func TestOutputsDoNotCountForAStageThatAccountsForItsInputs(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]func(*runnel.Out[int], int){
		"all filtered": func(out *runnel.Out[int], n int) { out.Filtered(n) },
		"all passed":   func(out *runnel.Out[int], n int) { out.Passed(n) },
		"nothing said": func(*runnel.Out[int], int) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("p", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(3)))
			runnel.Apply(runnel.From(p, &numbers{n: 10}), "counter", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
				return &counter{says: says}, nil
			}).To(&collect[int]{})
			require.NoError(t, p.Run(t.Context()))
			require.EqualValues(t, 10, p.Status().Stages[0].In)
		})
	}
}

func TestLedgerClosesOverRunsWithRecordsHeldInBetween(t *testing.T) {
	t.Parallel()
	store, out := checkpoint.Memory(), &collect[int]{}
	for _, n := range []int{3, 9, 10, 20} {
		p := runnel.New("p", runnel.Checkpoint(store))
		batched(runnel.From(p, &numbers{n: n}), -1).To(out)
		require.NoError(t, p.Run(t.Context()), "%d", n)
		require.EqualValues(t, (n+1)/2%3, p.Status().Stages[0].Held)
	}
	require.Equal(t, []int{0, 6, 12}, out.got())
}

func TestLedgerClosesAfterRestarts(t *testing.T) {
	t.Parallel()
	out := &collect[int]{}
	fails := failing(3)
	out.onWrite = func(ctx context.Context, _ runnel.Batch[int]) error { return fails(ctx) }
	p := runnel.New("p", runnel.Restart(3, 1), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(5)))
	src := &numbers{n: 20}
	batched(same(runnel.From(p, src), runnel.Parallel(2)), -1).To(out)
	require.NoError(t, p.Run(t.Context()))
	s := p.Status().Sources[0]
	require.EqualValues(t, 20, s.Committed)
	require.Equal(t, s.Read, s.Committed+s.Abandoned)
	require.Equal(t, []int{0, 6, 12}, out.got())
}
