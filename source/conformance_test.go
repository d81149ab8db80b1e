package source_test

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/source"
	"github.com/runnel-go/runnel/source/sourcetest"
)

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestSourcesKeepTheContract(t *testing.T) {
	t.Parallel()
	type system = sourcetest.System[int]
	fixed := func(open func(n int) runnel.Source[int]) func(*testing.T, int) system {
		return func(_ *testing.T, n int) system {
			return system{Values: numbers(n), Source: func() runnel.Source[int] { return open(n) }}
		}
	}
	cases := map[string]struct {
		setup func(*testing.T, int) system
		f     sourcetest.Features
	}{
		"slice":    {setup: fixed(func(n int) runnel.Source[int] { return source.Slice(numbers(n)) })},
		"generate": {setup: fixed(func(n int) runnel.Source[int] { return source.Generate(int64(n), func(i int64) int { return int(i) }) })},
		"seq":      {setup: fixed(func(n int) runnel.Source[int] { return source.Seq(slices.Values(numbers(n))) })},
		"seq2": {setup: fixed(func(n int) runnel.Source[int] {
			return source.Seq2(func(yield func(int, error) bool) {
				for _, v := range numbers(n) {
					if !yield(v, nil) {
						return
					}
				}
			})
		})},
		"func":          {setup: setupFunc(false)},
		"endless func":  {setup: setupFunc(true), f: sourcetest.Features{Endless: true}},
		"channel":       {setup: setupChannel(false)},
		"quiet channel": {setup: setupChannel(true), f: sourcetest.Features{Endless: true}},
		"push":          {setup: setupPush(false)},
		"quiet push":    {setup: setupPush(true), f: sourcetest.Features{Endless: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Run(t, c.setup, c.f)
		})
	}
}

func setupChannel(endless bool) func(*testing.T, int) sourcetest.System[int] {
	return func(_ *testing.T, n int) sourcetest.System[int] {
		c := make(chan int, n)
		for i := range n {
			c <- i
		}
		if !endless {
			close(c)
		}
		return sourcetest.System[int]{
			Values: numbers(n), Source: func() runnel.Source[int] { return source.Channel(c) },
		}
	}
}

func setupFunc(endless bool) func(*testing.T, int) sourcetest.System[int] {
	return func(_ *testing.T, n int) sourcetest.System[int] {
		next := 0
		return sourcetest.System[int]{Values: numbers(n), Source: func() runnel.Source[int] {
			return source.FuncBatch(func(ctx context.Context, limit int) ([]int, error) {
				if next == n && endless {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				values := numbers(n)[next:min(n, next+limit)]
				if next += len(values); next == n && !endless {
					return values, io.EOF
				}
				return values, nil
			})
		}}
	}
}

func setupPush(endless bool) func(*testing.T, int) sourcetest.System[int] {
	return func(t *testing.T, n int) sourcetest.System[int] {
		p := source.NewPush[int]()
		ctx, cancel := context.WithCancel(context.Background())
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_ = p.Emit(ctx, numbers(n)...) // refused where a case does not read everything
			if !endless {
				_ = p.Close()
			}
		}()
		t.Cleanup(func() {
			cancel()
			<-sent
		})
		return sourcetest.System[int]{Values: numbers(n), Source: func() runnel.Source[int] { return p }}
	}
}
