package ending_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/transport/internal/ending"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errFirst, errSecond = errors.New("first"), errors.New("second")

func TestOnlyTheFirstReasonCounts(t *testing.T) {
	t.Parallel()
	e, calls := ending.New(), 0
	require.NoError(t, e.Err())
	e.End(errFirst, func() {
		calls++
		require.Equal(t, errFirst, e.Err(), "waits have ended by then")
	})
	e.End(errSecond, func() { calls++ })
	<-e.Done()
	require.Equal(t, errFirst, e.Err())
	require.Equal(t, 1, calls)
}

func TestPlaceIsWaitedForUntilTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(e *ending.Ending, cancel context.CancelCauseFunc, places chan struct{})
		want error
	}{
		"a place is free":  {func(_ *ending.Ending, _ context.CancelCauseFunc, places chan struct{}) { <-places }, nil},
		"the context ends": {func(_ *ending.Ending, cancel context.CancelCauseFunc, _ chan struct{}) { cancel(errSecond) }, errSecond},
		"the link ends":    {func(e *ending.Ending, _ context.CancelCauseFunc, _ chan struct{}) { e.End(errFirst, func() {}) }, errFirst},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, places := ending.New(), make(chan struct{}, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				require.NoError(t, e.Take(ctx, places))
				taken := make(chan error, 1)
				go func() { taken <- e.Take(ctx, places) }()
				synctest.Wait()
				require.Empty(t, taken)
				c.end(e, cancel, places)
				require.Equal(t, c.want, <-taken)
				if c.want != nil {
					require.Equal(t, c.want, e.Take(ctx, make(chan struct{}, 1)), "also where there is room")
				}
			})
		})
	}
}
