package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// readsAll: nothing is left out or repeated, and every record has its place.
func (s *suite[T]) readsAll(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		sys := s.setup(t, n)
		rd := s.open(t, sys, nil, 64)
		rd.large = s.f.LargeFetches
		rd.all(n, s.f.Endless)
		requireValues(t, sys, rd.places)
		rd.close()
	}
}

// resumes: a source that can be read again gives, from the position behind each fetch, what came behind it.
func (s *suite[T]) resumes(t *testing.T) {
	sys := s.setup(t, 50)
	if !traits(sys.Source()).Replay || traits(sys.Source()).Moving {
		t.Skip("the source does not start at positions: its traits say so")
	}
	first := s.open(t, sys, nil, 7)
	first.large = s.f.LargeFetches
	first.all(50, s.f.Endless)
	first.close()
	for i, at := range first.at {
		if len(at) == 0 {
			continue
		}
		rest := first.places[first.ends[i]:]
		again := s.open(t, sys, at, 5) // other batches than the first time
		again.large = s.f.LargeFetches
		again.all(len(rest), s.f.Endless)
		requireSame(t, fmt.Sprintf("from behind fetch %d", i+1), rest, again.places)
		again.close()
		if t.Failed() {
			return // the same would be found behind each fetch
		}
	}
}

// givesAway: a fetch is not touched again by reads, commits and Close.
func (s *suite[T]) givesAway(t *testing.T) {
	const n = 100
	sys := s.setup(t, n)
	rd := s.open(t, sys, nil, 8)
	rd.large = s.f.LargeFetches
	var before []string
	for last := false; !last && (len(rd.places) < n || !s.f.Endless); {
		last = rd.next()
		before = append(before, snapshot(sys, rd.fetches[len(rd.fetches)-1]))
	}
	if err := rd.r.Commit(context.Background(), rd.position.Clone()); err != nil {
		t.Errorf("Commit: %v", err)
	}
	rd.close()
	for i, f := range rd.fetches {
		if now := snapshot(sys, f); now != before[i] {
			t.Fatalf("fetch %d was changed after it was given away:\nbefore: %s\nafter:  %s", i+1, before[i], now)
		}
	}
}

// snapshot shows all that is in a fetch.
func snapshot[T any](sys System[T], f runnel.Fetch[T]) string {
	text := fmt.Sprintf("%x", f.Position)
	for i, v := range f.Values() {
		m := f.Meta(i)
		text += fmt.Sprintf(" | %s %q %v %q %v", sys.show(v), m.Key, m.Time, m.Headers, m.Origin)
	}
	return text
}

// endsRead: the end of its context ends a read, before it begins and while it waits.
func (s *suite[T]) endsRead(t *testing.T) {
	sys := s.setup(t, 10)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	early := s.open(t, sys, nil, 4)
	soon(t, "Read with a context that has ended", func() { _, _ = early.r.Read(gone) })
	early.close()
	if !s.f.Endless {
		return
	}
	rd := s.open(t, s.setup(t, 10), nil, 4)
	rd.large = s.f.LargeFetches
	rd.all(10, true)
	ctx, cancel := context.WithCancel(context.Background())
	read := rd.background(ctx)
	cancel()
	soon(t, "Read whose context ends", func() {
		if err := <-read; err == nil || ended(err) {
			t.Errorf("Read returned %v when its context ended, want an error", err)
		}
	})
}

// background reads in another goroutine until that fails.
func (rd *reading[T]) background(ctx context.Context) <-chan error {
	result := make(chan error, 1)
	go func() {
		for {
			if _, err := rd.r.Read(ctx); err != nil {
				result <- err
				return
			}
		}
	}()
	return result
}

// commits: a commit waits for no read; it may come twice, and behind the last record.
func (s *suite[T]) commits(t *testing.T) {
	sys := s.setup(t, 20)
	rd := s.open(t, sys, nil, 4)
	rd.large = s.f.LargeFetches
	rd.next()
	first := rd.position.Clone()
	rd.all(20, s.f.Endless)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var read <-chan error
	if s.f.Endless {
		read = rd.background(ctx)
	}
	soon(t, "Commit", func() {
		for _, pos := range []checkpoint.Position{first, rd.position.Clone(), rd.position.Clone()} {
			if err := rd.r.Commit(context.Background(), pos); err != nil {
				t.Errorf("Commit: %v", err)
			}
		}
	})
	cancel()
	if read != nil {
		<-read
	}
}

// closes: Close may be called twice and concurrently, before the first read too, and ends a read that waits.
func (s *suite[T]) closes(t *testing.T) {
	early := s.open(t, s.setup(t, 5), nil, 4)
	early.close()
	early.closeAgain()
	sys := s.setup(t, 5)
	rd := s.open(t, sys, nil, 4)
	var read <-chan error
	if s.f.Endless {
		rd.all(5, true)
		read = rd.background(context.Background())
	}
	rd.once.Do(func() {}) // closed here
	soon(t, "Close, called twice at the same time", func() {
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				if err := rd.r.Close(context.Background()); err != nil && !errors.Is(err, runnel.ErrClosed) {
					t.Errorf("Close, called twice at the same time: %v, want nil or ErrClosed", err)
				}
			})
		}
		group.Wait()
	})
	rd.closeAgain()
	if read != nil {
		soon(t, "Read behind Close", func() {
			if err := <-read; err == nil || ended(err) {
				t.Errorf("Read returned %v when the reader was closed, want an error", err)
			}
		})
	}
}

// keepsPosition: where the source's system keeps the position, what was committed does not come again, and what was
// only read does.
func (s *suite[T]) keepsPosition(t *testing.T) {
	if !s.f.KeepsPosition {
		t.Skip("the system of the source keeps no position")
	}
	sys := s.setup(t, 50)
	first := s.open(t, sys, nil, 6)
	first.large = s.f.LargeFetches
	first.next()
	committed := len(first.places)
	soon(t, "Commit", func() {
		if err := first.r.Commit(context.Background(), first.position.Clone()); err != nil {
			t.Errorf("Commit: %v", err)
		}
	})
	first.next() // read and not committed
	first.close()
	second := s.open(t, sys, nil, 9)
	second.large = s.f.LargeFetches
	second.all(50-committed, s.f.Endless)
	requireValues(t, sys, append(first.places[:committed:committed], second.places...))
}

// missing: a source whose system is not there can be made and validated, and fails when it is opened.
func (s *suite[T]) missing(t *testing.T) {
	sys := s.setup(t, 0)
	if sys.Missing == nil {
		t.Skip("the source has no system that could be missing")
	}
	src := sys.Missing()
	traits(src)
	if v, ok := src.(runnel.Validator); ok {
		if err := v.Validate(); err != nil {
			t.Errorf("Validate: %v, although only the system is missing", err)
		}
	}
	p := runnel.New("missing")
	runnel.From(p, src).To(discard[T]{})
	soon(t, "Run", func() {
		if err := p.Run(context.Background()); err == nil {
			t.Error("a run succeeded although the system of the source is missing")
		}
	})
}
