package engine

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstFailureEndsAGroupAndIsWhatWaitReturns(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		f    func() error
		want string
	}{
		"an error":                    {func() error { return broken }, "broken"},
		"a panic":                     {func() error { panic("a bug") }, "first: panic: a bug"},
		"a panic with an error":       {func() error { panic(broken) }, "first: panic: broken"},
		"an end of the goroutine":     {func() error { runtime.Goexit(); return nil }, "first: its goroutine was ended"},
		"nothing, and then it is cut": {nil, "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ctx := NewGroup(t.Context())
			g.Go("other", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
			if c.f == nil {
				g.Cancel(errors.New("cut"))
			} else {
				g.Go("first", func(context.Context) error { return c.f() })
			}
			err := g.Wait()
			require.ErrorContains(t, err, c.want)
			require.Equal(t, err, context.Cause(ctx))
			if name == "a panic with an error" {
				require.ErrorIs(t, err, broken)
			}
		})
	}
}

func TestGroupWithoutAFailureReturnsNil(t *testing.T) {
	t.Parallel()
	g, ctx := NewGroup(t.Context())
	g.Go("one", func(context.Context) error { return nil })
	require.NoError(t, g.Wait())
	require.Error(t, ctx.Err(), "nothing is left to run in it")
}
