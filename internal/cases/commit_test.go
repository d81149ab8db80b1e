package cases_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/stretchr/testify/require"
)

var errTest = errors.New("failure of the test")

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestCOR01CommitCoversNothingBehindTheRecordThatASinkHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock is the pipeline's
		const n, held = 20_000, 100
		d, store, gate := runneltest.NewDriver[int](t), runneltest.NewStore(), runneltest.NewGate()
		d.Post(numbers(n)...)
		d.End()
		var mu sync.Mutex
		var got []int
		start := func() (*runnel.Pipeline, *runneltest.Run) {
			p := runnel.New("topic", runnel.MaxBatch(50), runnel.Checkpoint(store, checkpoint.Every(time.Second)))
			runnel.From(p, d, runnel.Name("topic")).To(sink.Func(func(ctx context.Context, v int) error {
				if v == held {
					if err := gate.Pass(ctx); err != nil {
						return err
					}
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, v)
				return nil
			}), runnel.Name("held"))
			return p, runneltest.Start(t, p)
		}
		p, run := start()
		gate.AwaitHeld(t, 1)
		time.Sleep(20 * time.Second)
		read := p.Status().Sources[0].Read
		require.Greater(t, read, int64(held), "the source has read ahead")
		require.Less(t, read, int64(n), "and not without a limit")
		require.NotEmpty(t, p.Status().Open, "a checkpoint is due and cannot complete")
		require.Contains(t, p.Status().Open[0].Waiting, "sink held")
		require.LessOrEqual(t, d.Committed(), held)
		require.Equal(t, d.Committed(), committed(t, store.Newest(), "topic"))
		p.Abort()
		require.ErrorIs(t, run.Wait(), runnel.ErrAborted)
		require.LessOrEqual(t, committed(t, store.Newest(), "topic"), held)
		require.NotContains(t, got, held)

		gate.Open()
		_, run = start()
		require.NoError(t, run.Wait())
		runneltest.AtLeastOnce(t, numbers(n), got)
		require.Equal(t, n, committed(t, store.Newest(), "topic"))
	})
}

// committed returns how many records of a driver a checkpoint covers.
func committed(t *testing.T, c checkpoint.Checkpoint, source string) int {
	t.Helper()
	token := c.Sources[source][runneltest.DriverPartition]
	if token == nil {
		return 0
	}
	next, _, err := checkpoint.ParseOffset(token)
	require.NoError(t, err)
	return int(next)
}

func TestCOR02CommitIsTheFirstRecordThatIsStillRunning(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		opts   []checkpoint.Option
		marker bool // one in front of the held record, none behind it
	}{
		"a marker behind each record":       {opts: []checkpoint.Option{checkpoint.EveryRecords(1), checkpoint.MaxOpen(20)}},
		"a marker in front of the one held": {opts: []checkpoint.Option{checkpoint.Every(time.Hour)}, marker: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const held = 3
				d, probe, gate := runneltest.NewDriver[int](t), runneltest.NewProbe[int](), runneltest.NewGate()
				store := runneltest.NewStore()
				var mu sync.Mutex
				var done []int
				start := func() *runneltest.Run {
					p := runnel.New("workers", runnel.MaxBatch(1), runnel.Checkpoint(store, c.opts...))
					work := func(ctx context.Context, v int) (int, error) {
						if v == held {
							if err := gate.Pass(ctx); err != nil {
								return 0, err
							}
						}
						mu.Lock()
						defer mu.Unlock()
						done = append(done, v)
						return v, nil
					}
					flow.MapAsync(runnel.From(p, d), work, runnel.Parallel(4), runnel.Unordered()).To(probe)
					run := runneltest.Start(t, p)
					t.Cleanup(p.Abort)
					return run
				}
				first := start()
				d.Send(0, 1, 2)
				if c.marker {
					d.Checkpoint()
				}
				d.Send(3, 4, 5, 6, 7, 8, 9)
				gate.AwaitHeld(t, 1)
				synctest.Wait()
				require.ElementsMatch(t, []int{0, 1, 2, 4, 5, 6, 7, 8, 9}, done, "the others are not held up")
				require.Equal(t, held, d.Committed())
				before := len(d.Commits())

				gate.Open()
				d.End()
				require.NoError(t, first.Wait())
				require.ElementsMatch(t, numbers(10), probe.Values())
				after := d.Commits()[before:]
				require.IsIncreasing(t, append([]int{held}, after...))
				require.Equal(t, 10, after[len(after)-1])
				if c.marker {
					require.Equal(t, []int{10}, after, "in one step")
				}
			})
		})
	}
}

func TestCOR02RestartBeginsAtTheRecordThatWasRunning(t *testing.T) {
	t.Parallel()
	runneltest.CheckGoroutines(t)
	d, gate, store := runneltest.NewDriver[int](t), runneltest.NewGate(), runneltest.NewStore()
	run := func(probe *runneltest.Probe[int]) (*runnel.Pipeline, *runneltest.Run) {
		p := runnel.New("workers", runnel.MaxBatch(1),
			runnel.Checkpoint(store, checkpoint.EveryRecords(1), checkpoint.MaxOpen(20)))
		work := func(ctx context.Context, v int) (int, error) {
			if v == 3 {
				return v, gate.Pass(ctx)
			}
			return v, nil
		}
		flow.MapAsync(runnel.From(p, d), work, runnel.Parallel(4), runnel.Unordered()).To(probe)
		return p, runneltest.Start(t, p)
	}
	p, first := run(runneltest.NewProbe[int]())
	d.Send(numbers(10)...)
	d.AwaitCommitted(3)
	gate.AwaitHeld(t, 1)
	p.Abort()
	require.ErrorIs(t, first.Wait(), runnel.ErrAborted)
	require.Equal(t, 3, d.Committed())

	gate.Open()
	d.End()
	probe := runneltest.NewProbe[int]()
	_, second := run(probe)
	require.NoError(t, second.Wait())
	require.ElementsMatch(t, []int{3, 4, 5, 6, 7, 8, 9}, probe.Values())
}

func TestCOR05RecordWithoutPositionIsRefusedAndTheStoredOneStays(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		position checkpoint.Position
		want     string
	}{
		"no position":      {nil, "without a position"},
		"empty position":   {checkpoint.Position{}, "without a position"},
		"empty token":      {checkpoint.Position{"0": {}}, "is empty"},
		"only a drop":      {checkpoint.Position{"0": nil}, "without a position"},
		"a lower position": {checkpoint.Position{"0": checkpoint.OffsetToken(1, nil)}, "goes back"},
	}
	policies := map[string]func() runnel.StageOption{
		"dead letter": func() runnel.StageOption { return runnel.DeadLetter(sink.NewSlice[runnel.Failed]()) },
		"skip":        runnel.Skip,
	}
	for name, c := range cases {
		for policy, option := range policies {
			t.Run(name+", "+policy, func(t *testing.T) {
				t.Parallel()
				store, probe := runneltest.NewStore(), runneltest.NewProbe[string]()
				good := checkpoint.Position{"0": checkpoint.OffsetToken(2, nil)}
				run := func(fetches ...fetch) error {
					p := runnel.New("custom", runnel.Checkpoint(store, checkpoint.EveryRecords(1)))
					s := runnel.From(p, custom{fetches}, runnel.Name("custom"))
					flow.TryMap(s, func(v string) (string, error) {
						if v == "bad" {
							return "", errTest
						}
						return v, nil
					}, option()).To(probe)
					return p.Run(context.Background())
				}
				require.NoError(t, run(fetch{"good", good}))
				before := store.Newest()
				require.Equal(t, good, before.Sources["custom"])

				err := run(fetch{"bad", c.position})
				require.ErrorContains(t, err, c.want)
				require.Equal(t, good, store.Newest().Sources["custom"], "the stored position stays")
			})
		}
	}
}

// custom is a source that a user wrote, of one record a fetch.
type custom struct{ fetches []fetch }

type fetch struct {
	value    string
	position checkpoint.Position
}

func (s custom) Open(_ context.Context, env runnel.SourceEnv, _ checkpoint.Position) (runnel.Reader[string], error) {
	return &customReader{fetches: s.fetches, a: runnel.NewAssignment(env.Name, "0")}, nil
}

type customReader struct {
	fetches []fetch
	a       *runnel.Assignment
}

func (r *customReader) Read(context.Context) (runnel.Fetch[string], error) {
	if len(r.fetches) == 0 {
		return runnel.Fetch[string]{}, io.EOF
	}
	f := r.fetches[0]
	r.fetches = r.fetches[1:]
	return runnel.Fetch[string]{
		Batch: runnel.NewBatch([]string{f.value}, nil).WithOrigin(r.a, 0), Position: f.position,
	}, nil
}

func (r *customReader) ComparePosition(_ string, a, b []byte) int {
	c, err := checkpoint.CompareOffsets(a, b)
	if err != nil {
		return 0
	}
	return c
}

func (r *customReader) Commit(context.Context, checkpoint.Position) error { return nil }
func (r *customReader) Close(context.Context) error                       { return nil }

func TestEndThatIsWrappedIsAFailureAndNotTheEnd(t *testing.T) {
	t.Parallel()
	d, probe := runneltest.NewDriver[int](t), runneltest.NewProbe[int]()
	p := runnel.New("broken connection")
	broken := fmt.Errorf("read tcp: %w", io.EOF)
	runnel.From(p, runneltest.HookSource(d, runneltest.FailAt(runneltest.OpRead, 2, broken))).To(probe)
	d.Post(1)
	d.Post(2)
	d.End()
	require.ErrorIs(t, p.Run(context.Background()), broken)
	require.Zero(t, d.Committed(), "the last marker, which stands for the end, was not taken")
}
