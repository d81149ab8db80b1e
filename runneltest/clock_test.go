package runneltest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel/runneltest"
	"github.com/stretchr/testify/require"
)

func TestClockStandsStillUntilItIsMoved(t *testing.T) {
	t.Parallel()
	c := runneltest.NewClock(time.Time{})
	start := c.Now()
	require.Equal(t, 2000, start.Year())
	c.Advance(time.Minute)
	require.Equal(t, start.Add(time.Minute), c.Now())
}

func TestClockWakesWhoseTimeHasCome(t *testing.T) {
	t.Parallel()
	c := runneltest.NewClock(time.Unix(100, 0))
	early, _ := c.After(time.Second)
	late, _ := c.After(time.Minute)
	given, stop := c.After(time.Second)
	stop()
	stop()
	past, _ := c.After(-time.Second)
	require.Equal(t, time.Unix(100, 0), <-past, "what lies in the past is due at once")
	require.Equal(t, 2, c.Timers())
	c.Advance(time.Second)
	require.Equal(t, time.Unix(101, 0), <-early)
	require.Empty(t, late)
	require.Empty(t, given, "it was given up")
	require.Equal(t, 1, c.Timers())
}

func TestClockWaitsForWhoIsAboutToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := runneltest.NewClock(time.Time{})
		woken := make(chan time.Time, 1)
		go func() {
			time.Sleep(time.Second) // the bubble's clock
			after, _ := c.After(time.Hour)
			woken <- <-after
		}()
		c.AwaitTimer(t, time.Hour)
		c.Advance(time.Hour)
		require.Equal(t, c.Now(), <-woken)
	})
}
