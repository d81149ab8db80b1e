package cases_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/stretchr/testify/require"
)

// transfer runs a driver into a sink, in batches and checkpoints of five.
func transfer(d *runneltest.Driver[int], store checkpoint.Store, h runneltest.Hook, sinks ...runnel.Sink[int]) error {
	p := runnel.New("transfer", runnel.MaxBatch(5),
		runnel.Checkpoint(runneltest.HookStore(store, h), checkpoint.EveryRecords(5)))
	s := runnel.From(p, runneltest.HookSource(d, h), runnel.Name("in"))
	for i, out := range sinks {
		s.To(runneltest.HookSink(out, h), runnel.Name(string(rune('a'+i))))
	}
	return p.Run(context.Background())
}

func undisturbed(context.Context, runneltest.Call) error { return nil }

// killAt returns a hook that lets no call through from a given one on, as the end of the process does. After says
// whether that call itself is made.
func killAt(op runneltest.Op, nth int, after bool) runneltest.Hook {
	var dead atomic.Bool
	return func(_ context.Context, c runneltest.Call) error {
		if c.Op == op && c.Nth == nth && c.After == after {
			dead.Store(true)
		}
		if dead.Load() && c.Op != runneltest.OpCloseStore {
			return runneltest.ErrKilled
		}
		return nil
	}
}

func TestCOR19CrashBetweenPrepareAndCommitIsResolvedByTheNextStart(t *testing.T) {
	t.Parallel()
	// Checkpoint 1 comes before all records; 2 covers the first five, and 3 the next.
	cases := map[string]struct {
		hook    runneltest.Hook
		visible int    // after the crash
		next    string // what the next start does with what it finds
	}{
		"before prepare":                   {killAt(runneltest.OpPrepare, 2, false), 0, ""},
		"prepared, not stored":             {killAt(runneltest.OpSave, 2, false), 0, "drop 2"},
		"stored, not committed":            {killAt(runneltest.OpCommit, 2, false), 0, "finish 2"},
		"stored, and the answer lost":      {runneltest.LoseAnswer(runneltest.OpSave, 2, errTest), 0, "finish 2"},
		"committed, and the answer lost":   {runneltest.LoseAnswer(runneltest.OpCommit, 2, errTest), 5, ""},
		"committed, source not told":       {killAt(runneltest.OpCommitSource, 1, false), 5, ""},
		"commit refused for a moment":      {runneltest.FailAt(runneltest.OpCommit, 2, errTest), 0, "finish 2"},
		"the next prepare does not happen": {killAt(runneltest.OpPrepare, 3, false), 5, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runneltest.CheckGoroutines(t)
			d, store, out := runneltest.NewDriver[int](t), runneltest.NewStore(), runneltest.NewTxSink[int]()
			d.Post(numbers(20)...)
			d.End()
			require.Error(t, transfer(d, store, c.hook, out))
			require.ElementsMatch(t, numbers(c.visible), out.Committed())
			before := len(out.Log())

			require.NoError(t, transfer(d, store, undisturbed, out))
			require.Equal(t, numbers(20), out.Committed(), "nothing is lost or repeated")
			require.Empty(t, out.Prepared())
			if c.next != "" {
				require.Equal(t, c.next, out.Log()[before+1], "behind the open")
			}
		})
	}
}

func TestCOR19FailureBehindTheDecisionKeepsWhatOtherSinksHavePrepared(t *testing.T) {
	t.Parallel()
	d, store := runneltest.NewDriver[int](t), runneltest.NewStore()
	a, b := runneltest.NewTxSink[int](), runneltest.NewTxSink[int]()
	d.Post(numbers(20)...)
	d.End()
	// Checkpoint 2 is stored; then the first of two commits fails, which ends the run by aborting both sinks.
	require.ErrorIs(t, transfer(d, store, failFirst(runneltest.OpCommit, 2), a, b), errTest)
	require.NoError(t, transfer(d, store, undisturbed, a, b))
	require.Equal(t, numbers(20), a.Committed())
	require.Equal(t, numbers(20), b.Committed())
}

// failFirst fails the first call that is the nth of its kind, and no other.
func failFirst(op runneltest.Op, nth int) runneltest.Hook {
	failed := make(chan struct{}, 1)
	failed <- struct{}{}
	return func(_ context.Context, c runneltest.Call) error {
		if c.Op != op || c.Nth != nth || c.After {
			return nil
		}
		select {
		case <-failed:
			return errTest
		default:
			return nil
		}
	}
}

func TestCOR19SinkThatHasLostWhatWasDecidedFailsTheStart(t *testing.T) {
	t.Parallel()
	d, store, out := runneltest.NewDriver[int](t), runneltest.NewStore(), runneltest.NewTxSink[int]()
	d.Post(numbers(20)...)
	d.End()
	require.Error(t, transfer(d, store, killAt(runneltest.OpCommit, 2, false), out))
	saved := len(store.Saved())

	emptied := runneltest.NewTxSink[int]() // the system of the sink came back without its data
	require.ErrorContains(t, transfer(d, store, undisturbed, emptied), "was never prepared")
	require.Empty(t, emptied.Committed(), "nothing is taken for done, and nothing goes on")
	require.Len(t, store.Saved(), saved)

	require.NoError(t, transfer(d, store, undisturbed, out))
	require.Equal(t, numbers(20), out.Committed())
}

func TestCOR19UnknownOutcomeOfADecisionIsAskedFor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hook    runneltest.Hook
		visible int // after the first run
		fails   bool
	}{
		"it was made":          {runneltest.LoseAnswer(runneltest.OpDecide, 2, errTest), 20, false},
		"it was not made":      {runneltest.FailAt(runneltest.OpDecide, 2, errTest), 0, true},
		"crash in front of it": {killAt(runneltest.OpDecide, 2, false), 0, true},
		"crash behind it":      {killAt(runneltest.OpDecide, 2, true), 5, true},
		"made, and not to be asked": {runneltest.Hooks(
			runneltest.LoseAnswer(runneltest.OpDecide, 2, errTest), runneltest.FailAt(runneltest.OpDecided, 2, errTest),
		), 5, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, store := runneltest.NewDriver[int](t), runneltest.NewStore()
			rows, other := runneltest.NewDecidingSink[int](), runneltest.NewTxSink[int]()
			d.Post(numbers(20)...)
			d.End()
			err := transfer(d, store, c.hook, rows, other)
			require.ElementsMatch(t, numbers(c.visible), rows.Committed())
			if c.fails {
				require.Error(t, err)
				require.NoError(t, transfer(d, store, undisturbed, rows, other))
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, numbers(20), rows.Committed())
			require.Equal(t, numbers(20), other.Committed())
			require.Equal(t, store.Newest().Number, rows.Decided())
		})
	}
}
