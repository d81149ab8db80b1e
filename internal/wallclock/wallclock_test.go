package wallclock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wallclock"
)

func TestClockWaitsAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wallclock.Clock
		begin := clock.Now()
		elapsed, stop := clock.After(time.Second)
		given, giveUp := clock.After(time.Second)
		giveUp()
		require.Equal(t, begin.Add(time.Second), <-elapsed)
		stop()
		synctest.Wait()
		require.Empty(t, given)
	})
}
