package runneltest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/runneltest"
)

// failing starts a run that reads one value; fail lets it end with an error.
func failing(tb testing.TB, probe *runneltest.Probe[int]) (run *runneltest.Run, fail func()) {
	p, src := runnel.New("fails"), runneltest.NewDriver[int](tb)
	src.Post(1)
	runnel.From(p, src, runnel.Name("in")).To(probe)
	return runneltest.Start(tb, p), func() { src.Fail(errTest) }
}

func TestWaitEndsWithTheErrorOfARunThatFailsMeanwhile(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wait func(tb testing.TB, d *runneltest.Driver[int])
		want string
	}{
		"driver":     {func(_ testing.TB, d *runneltest.Driver[int]) { d.Send(1) }, "to take 1 records"},
		"committed":  {func(_ testing.TB, d *runneltest.Driver[int]) { d.AwaitCommitted(1) }, "1 records to be committed"},
		"checkpoint": {func(_ testing.TB, d *runneltest.Driver[int]) { d.Checkpoint() }, "a checkpoint"},
		"probe": {func(tb testing.TB, _ *runneltest.Driver[int]) {
			runneltest.NewProbe[int]().Await(tb, 3)
		}, "3 records to arrive; 0 have"},
		"gate": {func(tb testing.TB, _ *runneltest.Driver[int]) {
			runneltest.NewGate().AwaitHeld(tb, 1)
		}, "1 to come to a gate"},
		"clock": {func(tb testing.TB, _ *runneltest.Driver[int]) {
			runneltest.NewClock(time.Time{}).AwaitTimer(tb, time.Second)
		}, "a timer of 1s"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				failed := runFake(func(tb testing.TB) {
					_, fail := failing(tb, runneltest.NewProbe[int]())
					go func() {
						synctest.Wait() // until the test waits
						fail()
					}()
					c.wait(tb, runneltest.NewDriver[int](tb))
				})
				require.Len(t, failed, 1)
				require.Contains(t, failed[0], "waited in vain for ")
				require.Contains(t, failed[0], c.want)
				require.Contains(t, failed[0], "a run ended with: runnel: in: read: "+errTest.Error())
				require.Zero(t, time.Since(begun), "it does not wait for longer")
			})
		})
	}
}

func TestWaitIsMetByWhatARunDidBeforeItFailed(t *testing.T) {
	t.Parallel()
	require.Empty(t, runFake(func(tb testing.TB) {
		probe := runneltest.NewProbe[int]()
		run, fail := failing(tb, probe)
		fail()
		probe.Await(tb, 1)
		if err := run.Wait(); !errors.Is(err, errTest) {
			tb.Errorf("the run ended with %v", err)
		}
		probe.Await(tb, 1)
	}))
}

func TestWaitBehindARunThatFailedTellsItsErrorAndWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		failed := runFake(func(tb testing.TB) {
			probe := runneltest.NewProbe[int]()
			run, fail := failing(tb, probe)
			fail()
			_ = run.Wait()
			second := runnel.New("second")
			d := runneltest.NewDriver[int](tb)
			runnel.From(second, d).To(probe)
			runneltest.Start(tb, second)
			go func() {
				time.Sleep(time.Second)
				d.Post(2)
			}()
			probe.Await(tb, 2) // which the second run meets
			probe.Await(tb, 9)
		})
		require.Len(t, failed, 1)
		require.Contains(t, failed[0], "9 records to arrive; 2 have; before, a run ended with: runnel: in: read: "+errTest.Error())
		require.Equal(t, 31*time.Second, time.Since(begun))
	})
}

func TestWaitOfOneTestKnowsNothingOfTheRunsOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := runFake(func(tb testing.TB) {
			require.Empty(t, runFake(func(other testing.TB) {
				run, fail := failing(other, runneltest.NewProbe[int]())
				fail()
				_ = run.Wait()
			}))
			runneltest.NewGate().AwaitHeld(tb, 1)
		})
		require.Equal(t, []string{"runneltest: waited in vain for 1 to come to a gate; it holds 0"}, failed)
	})
}
