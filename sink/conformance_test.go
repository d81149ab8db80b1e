package sink_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/sink/sinktest"
)

func number(i int) int { return i }

func TestSinksKeepTheContract(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		setup func(*testing.T) sinktest.System[int]
		f     sinktest.Features
	}{
		"slice":      {setup: setupSlice},
		"func":       {setup: setupFunc},
		"func batch": {setup: setupFuncBatch},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, c.setup, c.f)
		})
	}
}

func TestSinksOfTheTestKitKeepTheContract(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*testing.T) sinktest.System[int]{
		"transactional": func(*testing.T) sinktest.System[int] {
			s := runneltest.NewTxSink[int]()
			return system(s, s.Committed)
		},
		"deciding": func(*testing.T) sinktest.System[int] {
			s := runneltest.NewDecidingSink[int]()
			return system(s, s.Committed)
		},
		"late": func(*testing.T) sinktest.System[int] {
			s := runneltest.NewLateSink[int]()
			s.AckAll()
			return system(s, s.Durable)
		},
		"probe": func(*testing.T) sinktest.System[int] {
			s := runneltest.NewProbe[int]()
			return system(s, s.Values)
		},
	}
	for name, setup := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, setup, sinktest.Features{})
		})
	}
}

func system(s runnel.Sink[int], read func() []int) sinktest.System[int] {
	return sinktest.System[int]{
		Sink: func() runnel.Sink[int] { return s }, Value: number, Read: func(*testing.T) []int { return read() },
	}
}

func setupSlice(*testing.T) sinktest.System[int] {
	s := sink.NewSlice[int]()
	return system(s, s.Values)
}

// list is what functions write to.
type list struct {
	mu  sync.Mutex
	all []int
}

func (l *list) values() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int(nil), l.all...)
}

func (l *list) add(values ...int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, values...)
}

var errBad = errors.New("bad")

func setupFunc(*testing.T) sinktest.System[int] {
	var l list
	sys := system(sink.Func(func(_ context.Context, v int) error {
		if v < 0 {
			return errBad
		}
		l.add(v)
		return nil
	}), l.values)
	sys.Bad = func() int { return -1 }
	return sys
}

func setupFuncBatch(*testing.T) sinktest.System[int] {
	var l list
	return system(sink.FuncBatch(func(_ context.Context, b runnel.Batch[int]) error {
		l.add(b.Values()...)
		return nil
	}), l.values)
}
