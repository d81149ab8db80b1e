package runneltest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("failure of the test")

func TestDriverPutsMarkersBetweenRecords(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	d, probe := runneltest.NewDriver[string](t), runneltest.NewProbe[string]()
	p := runnel.New("steps")
	runnel.From(p, d).To(probe)
	run := runneltest.Start(t, p)
	d.Send("a", "b")
	d.Checkpoint()
	require.Equal(t, 2, d.Committed())
	d.Send("c")
	probe.Await(t, 3)
	require.Equal(t, 2, d.Committed(), "what came behind the marker is not committed with it")
	require.Equal(t, []runneltest.Section[string]{
		{Values: []string{"a", "b"}, Marker: 1}, {Values: []string{"c"}},
	}, probe.Sections())
	d.End()
	require.NoError(t, run.Wait())
	require.Equal(t, []int{2, 3}, d.Commits())
	require.Equal(t, []int{2, 1}, probe.Batches())
}

func TestDriverReadsAgainFromItsPosition(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		opts []runneltest.DriverOption
		want []int
	}{
		"with replay":    {nil, []int{1, 2, 3, 3, 4}},
		"without replay": {[]runneltest.DriverOption{runneltest.NoReplay()}, []int{1, 2, 3, 4}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, probe := runneltest.NewDriver[int](t, c.opts...), runneltest.NewProbe[int]()
			p := runnel.New("again", runnel.Restart(1, 0))
			runnel.From(p, d).To(probe)
			run := runneltest.Start(t, p)
			d.Send(1, 2)
			d.Checkpoint()
			d.Send(3)
			probe.Await(t, 3)
			d.Fail(errTest)
			d.Post(4)
			d.End()
			require.NoError(t, run.Wait())
			require.Equal(t, c.want, probe.Values())
		})
	}
}

func TestDriverGivesUndecodableRecordsToThePolicy(t *testing.T) {
	t.Parallel()
	d, probe, dead := runneltest.NewDriver[int](t), runneltest.NewProbe[int](), runneltest.NewProbe[runnel.Failed]()
	p := runnel.New("undecodable")
	runnel.From(p, d, runnel.Name("in"), runnel.DeadLetter(dead)).To(probe)
	run := runneltest.Start(t, p)
	d.Send(1)
	d.SendUndecodable(2, errTest)
	d.Send(3)
	d.End()
	require.NoError(t, run.Wait())
	require.Equal(t, []int{1, 3}, probe.Values())
	require.Equal(t, []int64{0, 2}, []int64{probe.Records()[0].Origin.Offset, probe.Records()[1].Origin.Offset})
	require.Len(t, dead.Values(), 1)
	require.ErrorIs(t, dead.Values()[0].Err, errTest)
	require.Equal(t, "in/0@1", dead.Values()[0].Origin.String())
}

func TestWhatWaitsInVainFailsTheTestAndSaysForWhat(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wait func(tb testing.TB)
		want string
	}{
		"driver": {func(tb testing.TB) { runneltest.NewDriver[int](tb).Send(1) }, "to take 1 records"},
		"probe":  {func(tb testing.TB) { runneltest.NewProbe[int]().Await(tb, 3) }, "3 records to arrive; 0 have"},
		"marker": {func(tb testing.TB) { runneltest.NewProbe[int]().AwaitMarker(tb, 2) }, "marker 2 to arrive"},
		"gate":   {func(tb testing.TB) { runneltest.NewGate().AwaitHeld(tb, 1) }, "1 to come to a gate; it holds 0"},
		"tx":     {func(tb testing.TB) { runneltest.NewTxSink[int]().AwaitCommitted(tb, 1) }, "1 values to be committed; 0 are"},
		"late":   {func(tb testing.TB) { runneltest.NewLateSink[int]().AwaitMarkers(tb, 1) }, "marker 1 to come; 0 have"},
		"group": {func(tb testing.TB) {
			runneltest.NewGroup[int](tb, "a").AwaitCommitted("a", 1)
		}, "offset 1 of partition a to be committed; 0 is"},
		"checkpoint": {func(tb testing.TB) { runneltest.NewDriver[int](tb).Checkpoint() }, "in vain for a checkpoint"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // its clock moves as soon as nothing else does
				failed := runFake(c.wait)
				require.Len(t, failed, 1)
				require.Contains(t, failed[0], c.want)
			})
		})
	}
}

func TestHookedStoreSaysWhatTheStoreSaysOfItsConfiguration(t *testing.T) {
	t.Parallel()
	pass := func(context.Context, runneltest.Call) error { return nil }
	hooked := func(store checkpoint.Store) checkpoint.Validator {
		return runneltest.HookStore(store, pass).(checkpoint.Validator)
	}
	require.ErrorContains(t, hooked(checkpoint.Dir("")).Validate(), "empty path")
	require.NoError(t, hooked(checkpoint.Dir("state")).Validate())
	require.NoError(t, hooked(checkpoint.Memory()).Validate())
}

func TestHooksFailCallsBeforeOrAfterTheirEffect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hook runneltest.Hook
		want int // values that the sink has received in the end
	}{
		"write fails":            {runneltest.FailAt(runneltest.OpWrite, 2, errTest), 1},
		"write's answer is lost": {runneltest.LoseAnswer(runneltest.OpWrite, 2, errTest), 2},
		"every flush fails":      {runneltest.FailAt(runneltest.OpFlush, 0, errTest), 3},
		"read fails":             {runneltest.FailAt(runneltest.OpRead, 3, errTest), 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, probe := runneltest.NewDriver[int](t), runneltest.NewProbe[int]()
			p := runnel.New("hooks", runnel.MaxBatch(1))
			runnel.From(p, runneltest.HookSource(d, c.hook)).To(runneltest.HookSink(probe, c.hook))
			d.Post(1)
			d.Post(2)
			d.Post(3)
			d.End()
			require.ErrorIs(t, p.Run(context.Background()), errTest)
			require.Equal(t, c.want, probe.Len())
		})
	}
}

func TestHookHoldsCallsAtGate(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	gate := runneltest.NewGate()
	d, probe := runneltest.NewDriver[int](t), runneltest.NewProbe[int]()
	p := runnel.New("gate", runnel.MaxBatch(1))
	runnel.From(p, d).To(runneltest.HookSink(probe, runneltest.Hold(runneltest.OpWrite, 0, gate)))
	run := runneltest.Start(t, p)
	d.Send(1, 2, 3)
	gate.AwaitHeld(t, 1)
	require.Empty(t, probe.Values())
	gate.Let(1)
	require.Equal(t, []int{1}, probe.Await(t, 1))
	gate.AwaitHeld(t, 1)
	gate.Open()
	probe.Await(t, 3)
	d.End()
	require.NoError(t, run.Wait())
}

func TestHookedSinkKeepsTheAbilitiesOfItsWriter(t *testing.T) {
	t.Parallel()
	pass := func(context.Context, runneltest.Call) error { return nil }
	cases := map[string]struct {
		sink               runnel.Sink[int]
		tx, decides, later bool
	}{
		"plain":         {sink: runneltest.NewProbe[int]()},
		"transactional": {sink: runneltest.NewTxSink[int](), tx: true},
		"deciding":      {sink: runneltest.NewDecidingSink[int](), decides: true},
		"late":          {sink: runneltest.NewLateSink[int](), later: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := runneltest.HookSink(c.sink, pass).Open(context.Background(), runnel.SinkEnv{})
			require.NoError(t, err)
			_, tx := w.(runnel.Transactional)
			_, decides := w.(runnel.Decider)
			_, later := w.(runnel.Barrier)
			require.Equal(t, []bool{c.tx, c.decides, c.later}, []bool{tx, decides, later})
		})
	}
}

func TestLateSinkIsDurableOnceItAcknowledges(t *testing.T) {
	t.Parallel()
	d, late := runneltest.NewDriver[int](t), runneltest.NewLateSink[int]()
	p := runnel.New("late")
	runnel.From(p, d).To(late)
	run := runneltest.Start(t, p)
	d.Send(1, 2)
	first := d.RequestCheckpoint()
	late.AwaitMarkers(t, 1)
	d.Send(3)
	late.AwaitReceived(t, 3)
	require.Empty(t, late.Durable())
	require.Zero(t, d.Committed())
	require.True(t, late.Ack(nil))
	require.NoError(t, <-first)
	require.Equal(t, []int{1, 2}, late.Durable())
	require.Equal(t, 2, d.Committed())
	late.AckAll()
	d.End()
	require.NoError(t, run.Wait())
	require.Equal(t, []int{1, 2, 3}, late.Durable())
}

func TestLateSinkCanRefuseRecordsOfAMarker(t *testing.T) {
	t.Parallel()
	d, late, dead := runneltest.NewDriver[int](t), runneltest.NewLateSink[int](), runneltest.NewProbe[runnel.Failed]()
	p := runnel.New("refuse")
	runnel.From(p, d).To(late, runnel.DeadLetter(dead))
	run := runneltest.Start(t, p)
	d.SendRecords(runnel.Record[int]{Value: 1}, runnel.Record[int]{Value: 2, Meta: runnel.Meta{Key: []byte("k")}})
	outcome := d.RequestCheckpoint()
	late.AwaitMarkers(t, 1)
	require.Equal(t, []int{1, 2}, late.Received())
	late.Ack(&runnel.BatchError[int]{
		Failed: []runnel.Record[int]{{Value: 2, Meta: runnel.Meta{Key: []byte("k")}}}, Errs: []error{errTest},
	})
	require.NoError(t, <-outcome)
	require.Equal(t, []byte("k"), dead.Await(t, 1)[0].Key)
	late.AckAll()
	d.End()
	require.NoError(t, run.Wait())
	require.False(t, late.Ack(nil), "no marker waits")
	require.Nil(t, late.Received(), "no run is open")
}

func TestHooksAreAskedInOrderAndAGateCanBeShutAgain(t *testing.T) {
	t.Parallel()
	gate := runneltest.NewGate()
	gate.Open()
	d, probe := runneltest.NewDriver[int](t), runneltest.NewProbe[int]()
	var asked []runneltest.Op
	note := func(_ context.Context, c runneltest.Call) error {
		if c.Op == runneltest.OpWrite && !c.After {
			asked = append(asked, c.Op)
		}
		return nil
	}
	p := runnel.New("order")
	runnel.From(p, d).To(runneltest.HookSink(probe, runneltest.Hooks(runneltest.Hold(runneltest.OpWrite, 0, gate), note)))
	run := runneltest.Start(t, p)
	d.Send(1)
	probe.Await(t, 1)
	gate.Shut()
	d.Send(2)
	gate.AwaitHeld(t, 1)
	require.Len(t, asked, 1, "the hook behind the gate was not asked")
	gate.Open()
	d.Checkpoint()
	d.AwaitCommitted(2)
	d.End()
	require.NoError(t, run.Wait())
	require.Equal(t, map[string]int64{runneltest.DriverPartition: 0}, p.Status().Sources[0].Lag)
}

func TestTxSinkRefusesCallsOutOfTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	open := func(t *testing.T) (runnel.Writer[int], runnel.Transactional) {
		w, err := runneltest.NewTxSink[int]().Open(ctx, runnel.SinkEnv{})
		require.NoError(t, err)
		return w, w.(runnel.Transactional)
	}
	w, tx := open(t)
	_, err := tx.Prepare(ctx, 1)
	require.NoError(t, err)
	require.ErrorContains(t, w.Write(ctx, runnel.NewBatch([]int{1}, nil)), "between prepare and commit")
	_, err = tx.Prepare(ctx, 2)
	require.ErrorContains(t, err, "two prepares")
	_, tx = open(t)
	require.ErrorContains(t, tx.Commit(ctx, 3, []byte("3")), "never prepared")
	require.ErrorContains(t, tx.Commit(ctx, 3, []byte("2")), "with token")
	_, err = runneltest.NewTxSink[int]().Open(ctx, runnel.SinkEnv{From: 4, Prepared: []byte("4")})
	require.ErrorContains(t, err, "never prepared", "what was prepared is lost")
}

func TestStoreOutlivesRuns(t *testing.T) {
	t.Parallel()
	store, d, probe := runneltest.NewStore(), runneltest.NewDriver[int](t), runneltest.NewProbe[int]()
	for range 2 {
		p := runnel.New("twice", runnel.Checkpoint(store))
		runnel.From(p, d, runnel.Name("in")).To(probe)
		run := runneltest.Start(t, p)
		d.Send(7)
		require.NoError(t, run.Stop())
	}
	require.Equal(t, []int{7, 7}, probe.Values(), "each run reads what the one before has not")
	require.Equal(t, d.Position(2), store.Newest().Sources["in"])
	require.Equal(t, checkpoint.Number(len(store.Saved())), store.Newest().Number)
}

func TestCheckGoroutinesFindsWhatTheTestHasStarted(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	failed := runFake(func(tb testing.TB) {
		runneltest.CheckGoroutines(tb)
		go func() { <-release }()
	})
	close(release)
	require.Len(t, failed, 1)
	require.Contains(t, failed[0], "goroutines are left behind")
	require.Contains(t, failed[0], "TestCheckGoroutinesFindsWhatTheTestHasStarted")
	require.Empty(t, runFake(func(tb testing.TB) {
		runneltest.CheckGoroutines(tb)
		done := make(chan struct{})
		go close(done)
		<-done
	}))
}

func TestComparisonsNameWhatIsMissingAndWhatIsTooMany(t *testing.T) {
	t.Parallel()
	want := []int{1, 2, 2, 3}
	cases := map[string]struct {
		compare func(testing.TB, []int, []int)
		got     []int
		failure string
	}{
		"the same in another order":  {runneltest.ExactlyOnce[int], []int{2, 3, 1, 2}, ""},
		"one missing":                {runneltest.ExactlyOnce[int], []int{1, 2, 3}, "1 are missing (2) and 0 are too many"},
		"one repeated":               {runneltest.ExactlyOnce[int], []int{1, 2, 2, 3, 3}, "0 are missing () and 1 are too many (3)"},
		"repeated, at least once":    {runneltest.AtLeastOnce[int], []int{1, 2, 2, 2, 3}, ""},
		"one missing, at least once": {runneltest.AtLeastOnce[int], []int{1, 2, 3, 3}, "1 are missing (2)"},
		"foreign, at least once":     {runneltest.AtLeastOnce[int], []int{1, 2, 2, 3, 4}, "1 were never sent (4)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := runFake(func(tb testing.TB) { c.compare(tb, want, c.got) })
			if c.failure == "" {
				require.Empty(t, failed)
				return
			}
			require.Len(t, failed, 1)
			require.Contains(t, failed[0], c.failure)
		})
	}
}
