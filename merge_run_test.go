package runnel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// sides is a join that hands on what comes on either side, and counts it. It fails for "r3". Its state is the two counts.
type sides struct{ left, right int }

func (s *sides) ProcessLeft(_ context.Context, in runnel.Batch[int], out *runnel.Out[string]) error {
	for i, v := range in.Values() {
		s.left++
		out.Emit(fmt.Sprintf("l%d", v), in.Meta(i))
	}
	return nil
}

func (s *sides) ProcessRight(_ context.Context, in runnel.Batch[string], out *runnel.Out[string]) error {
	for i, v := range in.Values() {
		if v == "r3" {
			if err := out.Fail(v, in.Meta(i), errRefused); err != nil {
				return err
			}
			continue
		}
		s.right++
		out.Emit(v, in.Meta(i))
	}
	return nil
}

func (s *sides) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	w.Put([]byte("left"), []byte(strconv.Itoa(s.left)))
	w.Put([]byte("right"), []byte(strconv.Itoa(s.right)))
	return nil
}

func (s *sides) Restore(r runnel.SnapshotReader) error {
	r.All(func(key, value []byte) bool {
		n, _ := strconv.Atoi(string(value))
		if string(key) == "left" {
			s.left = n
		} else {
			s.right = n
		}
		return true
	})
	return nil
}

// joined builds a pipeline that joins two sources. The join is kept in state.
func joined(p *runnel.Pipeline, left, right *numbers, out *collect[string], state **sides, opts ...runnel.StageOption) {
	l := runnel.From(p, left, runnel.Name("left"))
	r := through(runnel.From(p, right, runnel.Name("right")), stage[int, string](func(_ context.Context, in runnel.Batch[int], out *runnel.Out[string]) error {
		for i, v := range in.Values() {
			out.Emit(fmt.Sprintf("r%d", v), in.Meta(i))
		}
		return nil
	}))
	runnel.Join(l, r, "join", nil, nil, func(runnel.StageEnv) (runnel.JoinStage[int, string, string], error) {
		*state = &sides{}
		return *state, nil
	}, append(opts, runnel.Stateful(), runnel.Name("join"))...).To(out, runnel.Name("out"))
}

func TestJoinGoesOnWithItsStateWhereBothInputsWere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, out, dead := durably{checkpoint.Memory()}, &collect[string]{kind: txSink}, &collect[runnel.Failed]{}
		var state *sides
		crash := failing(2)
		out.onCall = on("prepare 4", crash)
		for {
			left, right := paced(9), paced(5)
			p := runnel.New("p", every(store, time.Second), runnel.InboxBatches(1))
			joined(p, left, right, out, &state, runnel.DeadLetter(dead))
			err := p.Run(t.Context())
			if err == nil {
				break
			}
			require.ErrorIs(t, err, errBroken)
		}
		got := out.got()
		slices.Sort(got)
		require.Equal(t, []string{"l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "r0", "r1", "r2", "r4"}, got)
		require.Equal(t, sides{9, 4}, *state)
		require.Equal(t, "join", dead.got()[0].Stage)
		require.Equal(t, "right/p@3", dead.got()[0].Origin.String())
	})
}

func TestJoinReadsWhicheverInputHasSomething(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left, right, out := &numbers{n: 3, endless: true}, &numbers{n: 0, endless: true}, &collect[string]{}
		var state *sides
		p := runnel.New("p", every(checkpoint.Memory(), time.Second))
		joined(p, left, right, out, &state)
		stop, _ := run(t, p)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"l0", "l1", "l2"}, out.got())
		require.Contains(t, left.all(), "commit 3", "markers pass while the other source waits")
		require.NoError(t, stop())
	})
}

func TestJoinMayReadOneStreamTwice(t *testing.T) {
	t.Parallel()
	out := &collect[int]{}
	p := runnel.New("p", runnel.InboxBatches(1), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1)))
	s := runnel.From(p, &numbers{n: 20})
	runnel.Join(s, s, "twice", nil, nil, func(runnel.StageEnv) (runnel.JoinStage[int, int, int], error) { return both{}, nil }).To(out)
	require.NoError(t, p.Run(t.Context()))
	require.Len(t, out.got(), 40)
	st := p.Status().Stages[0]
	require.EqualValues(t, []int64{40, 40}, []int64{st.In, st.Out})
}

// both hands on what comes on either side.
type both struct{}

func (both) ProcessLeft(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	out.EmitBatch(in)
	return nil
}

func (both) ProcessRight(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	out.EmitBatch(in)
	return nil
}

func TestJoinThatFailsOrPanicsIsNamedWithTheRecord(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]func() error{
		"an error": func() error { return errors.New("a bug in join") },
		"a panic":  func() error { panic("a bug in join") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("p")
			s := runnel.From(p, &numbers{n: 3})
			runnel.Join(s, s, "join", nil, nil, func(runnel.StageEnv) (runnel.JoinStage[int, int, int], error) {
				return broken{left}, nil
			}).To(&collect[int]{})
			require.ErrorContains(t, p.Run(t.Context()), "runnel: join-1: at source-1/p@0: ")
		})
	}
}

type broken struct{ left func() error }

func (b broken) ProcessLeft(context.Context, runnel.Batch[int], *runnel.Out[int]) error {
	return b.left()
}

func (broken) ProcessRight(context.Context, runnel.Batch[int], *runnel.Out[int]) error { return nil }

// Invariant 2: markers are aligned by their number. One that is slow on one input neither completes with, nor is
// overtaken by, the next on the other.
func TestMergeCoversExactlyWhatEachInputHadInFrontOfTheMarker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fast, slow, out := paced(40), paced(40), &collect[int]{}
		covered := map[checkpoint.Number]int{}
		var behind []int
		out.onCall = on("flush", func(context.Context) error { behind = append(behind, len(out.got())); return nil })
		p := runnel.New("p", every(checkpoint.Memory(), time.Second), runnel.InboxBatches(1), runnel.OnCheckpoint(func(c checkpoint.Checkpoint) {
			for _, pos := range c.Sources {
				n, _ := strconv.Atoi(string(pos["p"]))
				covered[c.Number] += n
			}
			require.Equal(t, covered[c.Number], behind[c.Number-1], "checkpoint %d", c.Number)
		}))
		delayed := through(runnel.From(p, slow), try(func(ctx context.Context, v int) error {
			return sleep(ctx, time.Duration(mix(int64(v), 1)%2500)*time.Millisecond)
		}))
		runnel.Merge(runnel.From(p, fast), delayed).To(out)
		require.NoError(t, p.Run(t.Context()))
		require.Greater(t, len(covered), 20)
	})
}
