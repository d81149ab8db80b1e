package checkpoint

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// eachStore runs a test against every store of this package.
func eachStore(t *testing.T, test func(t *testing.T, s Store)) {
	t.Helper()
	t.Parallel()
	stores := map[string]func(t *testing.T) Store{
		"Memory": func(*testing.T) Store { return Memory() },
		"Dir":    func(t *testing.T) Store { return Dir(t.TempDir()) },
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, store(t))
		})
	}
}

func TestNewStoreHoldsNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		for _, n := range []Number{0, 1} {
			_, err := log.Load(context.Background(), n)
			require.ErrorIs(t, err, ErrNotFound)
		}
		require.NoError(t, log.Rewind(context.Background(), 0))
		require.ErrorIs(t, log.Rewind(context.Background(), 1), ErrNotFound)
	})
}

func TestCheckpointComesBackAsItWasSaved(t *testing.T) {
	everything := flights(1, map[string]State{
		"count": {Full: true, Put: map[string][]byte{"": {}, "k": []byte("v"), "nil": nil, "\xff\x00": {0}}},
		"take":  {Full: true, Put: map[string][]byte{}},
		"none":  {Full: true},
	})
	everything.Sources["unknown"] = nil
	everything.Sources["nothing yet"] = Position{}
	everything.Sources["tokens"] = Position{"nil": nil, "empty": {}}
	everything.Sinks["nil"] = nil
	everything.Sinks["empty"] = []byte{}
	tests := map[string]*Checkpoint{
		"everything":    everything,
		"nothing":       {Pipeline: "flights", Number: 1},
		"empty":         {Pipeline: "flights", Number: 1, Taken: taken, Shape: []string{}, Sources: map[string]Position{}, Sinks: map[string][]byte{}, States: map[string]State{}},
		"great number":  {Pipeline: "flights", Number: 1<<64 - 1, Taken: taken},
		"far off times": {Pipeline: "flights", Number: 1, Taken: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)},
	}
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		for name, want := range tests {
			require.NoError(t, log.Rewind(context.Background(), 0))
			save(t, log, want)
			require.Equal(t, want, load(t, log, 0), name)
			require.Equal(t, want, load(t, log, want.Number), name)
		}
	})
}

func TestRestartFindsWhatWasSaved(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		save(t, log, flights(1, nil), flights(2, nil))
		require.NoError(t, log.Close())
		require.Equal(t, flights(2, nil), load(t, open(t, s), 0))
	})
}

func TestLoadMergesTheChain(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		save(t, log,
			flights(1, full("count", "a", "1", "b", "1")),
			flights(2, changes("count", "b", "2")),
			flights(3, map[string]State{"count": {Deleted: []string{"a"}}}),
			flights(7, changes("count", "c", "7")))
		require.Equal(t, flights(1, full("count", "a", "1", "b", "1")), load(t, log, 1))
		require.Equal(t, flights(2, full("count", "a", "1", "b", "2")), load(t, log, 2))
		require.Equal(t, flights(3, full("count", "b", "2")), load(t, log, 3))
		require.Equal(t, flights(7, full("count", "b", "2", "c", "7")), load(t, log, 0))
		require.NoError(t, log.Close())

		again := open(t, s)
		save(t, again, flights(8, changes("count", "d", "8")))
		require.Equal(t, flights(8, full("count", "b", "2", "c", "7", "d", "8")), load(t, again, 0))
	})
}

func TestChangesNeedAStateBefore(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		require.ErrorContains(t, log.Save(context.Background(), flights(1, changes("count"))), `"count"`)
		save(t, log, flights(1, full("count")))
		require.ErrorContains(t, log.Save(context.Background(), flights(2, changes("take"))), `"take"`)
		save(t, log, flights(2, full("take", "k", "1")))
		require.ErrorContains(t, log.Save(context.Background(), flights(3, changes("count"))), `"count"`)
		save(t, log, flights(3, changes("take")))
		require.Equal(t, flights(3, full("take", "k", "1")), load(t, log, 0))
	})
}

func TestOldChainsArePrunedAsWhole(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		kept := func(want ...Number) {
			t.Helper()
			var got []Number
			for n := Number(1); n <= 20; n++ {
				_, err := log.Load(context.Background(), n)
				if err == nil {
					got = append(got, n)
					continue
				}
				require.ErrorIs(t, err, ErrNotFound)
			}
			require.Equal(t, want, got)
		}
		save(t, log, flights(1, full("count", "a", "1")), flights(2, changes("count")), flights(3, changes("count")))
		save(t, log, flights(4, full("count", "a", "4")), flights(5, changes("count")))
		kept(1, 2, 3, 4, 5)
		save(t, log, flights(6, full("count", "a", "6")))
		kept(4, 5, 6)
		save(t, log, flights(7, nil))
		kept(4, 5, 6, 7)
		save(t, log, flights(8, nil), flights(9, nil), flights(10, nil))
		kept(8, 9, 10)
	})
}

func TestSecondRunIsRefusedUntilTheFirstEnds(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		_, err := s.Open(context.Background(), "flights")
		require.ErrorIs(t, err, ErrInUse)
		require.ErrorContains(t, err, "pipeline flights")
		require.NoError(t, log.Close())
		require.NoError(t, log.Close())
		open(t, s)
	})
}

func TestOtherPipelineIsRefusedByBothNames(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		require.ErrorIs(t, log.Save(context.Background(), &Checkpoint{Pipeline: "orders", Number: 1}), ErrOtherPipeline)
		save(t, log, flights(1, nil))
		require.NoError(t, log.Close())
		_, err := s.Open(context.Background(), "orders")
		require.ErrorIs(t, err, ErrOtherPipeline)
		require.ErrorContains(t, err, `"flights"`)
		require.ErrorContains(t, err, `"orders"`)
		require.Equal(t, flights(1, nil), load(t, open(t, s), 0), "the refused one took nothing with it")
	})
}

func TestStaleNumberIsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		require.ErrorIs(t, log.Save(context.Background(), flights(0, nil)), ErrStale)
		save(t, log, flights(5, nil))
		for _, n := range []Number{0, 4, 5} {
			require.ErrorIs(t, log.Save(context.Background(), flights(n, nil)), ErrStale)
		}
		require.Equal(t, flights(5, nil), load(t, log, 0))
	})
}

func TestRewindMakesAnOlderOneTheNewest(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		save(t, log, flights(1, full("count", "a", "1")), flights(2, changes("count", "a", "2")),
			flights(3, changes("count", "a", "3")), flights(4, full("count", "a", "4")))
		require.ErrorIs(t, log.Rewind(context.Background(), 9), ErrNotFound)
		require.NoError(t, log.Rewind(context.Background(), 4), "the newest already")
		require.NoError(t, log.Rewind(context.Background(), 2))
		require.Equal(t, flights(2, full("count", "a", "2")), load(t, log, 0))
		_, err := log.Load(context.Background(), 3)
		require.ErrorIs(t, err, ErrNotFound)

		save(t, log, flights(3, changes("count", "b", "3")))
		require.NoError(t, log.Close())
		again := open(t, s)
		require.Equal(t, flights(3, full("count", "a", "2", "b", "3")), load(t, again, 0))

		require.NoError(t, again.Rewind(context.Background(), 0))
		_, err = again.Load(context.Background(), 0)
		require.ErrorIs(t, err, ErrNotFound)
		require.Error(t, again.Save(context.Background(), flights(1, changes("count"))), "nothing to change")
		save(t, again, flights(1, full("count")))
	})
}

func TestLoadedCheckpointIsTheCallersOwn(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		mine := flights(1, full("count", "a", "1"))
		save(t, log, mine)
		mine.States["count"].Put["a"] = []byte("changed")
		mine.Sources["flights"]["other"] = nil
		mine.Sinks["other"] = nil
		got := load(t, log, 0)
		require.Equal(t, flights(1, full("count", "a", "1")), got)
		got.States["count"].Put["b"] = []byte("changed")
		delete(got.Sources["flights"], "a.ndjson")
		require.Equal(t, flights(1, full("count", "a", "1")), load(t, log, 0))
	})
}

func TestClosedLogRefusesEverything(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		log := open(t, s)
		save(t, log, flights(1, nil))
		require.NoError(t, log.Close())
		next := open(t, s)
		require.NoError(t, log.Close(), "and it must not take the lease of the next")
		_, err := log.Load(context.Background(), 0)
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, log.Save(context.Background(), flights(2, nil)), ErrClosed)
		require.ErrorIs(t, log.Rewind(context.Background(), 0), ErrClosed)
		require.Equal(t, flights(1, nil), load(t, next, 0))
		_, err = s.Open(context.Background(), "flights")
		require.ErrorIs(t, err, ErrInUse)
	})
}

func TestEndedContextChangesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := s.Open(gone, "flights")
		require.ErrorIs(t, err, context.Canceled)
		log := open(t, s)
		save(t, log, flights(1, nil), flights(2, nil))
		require.ErrorIs(t, log.Save(gone, flights(3, nil)), context.Canceled)
		require.ErrorIs(t, log.Rewind(gone, 1), context.Canceled)
		_, err = log.Load(gone, 0)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, flights(2, nil), load(t, log, 0))
	})
}

func TestOnlyWhatOutlivesTheProcessIsDurable(t *testing.T) {
	t.Parallel()
	require.False(t, Memory().Durable())
	require.True(t, Dir("state").Durable())
}

func TestOpenAndCloseFromManyGoroutinesNeverShareTheLease(t *testing.T) {
	eachStore(t, func(t *testing.T, s Store) {
		var mu sync.Mutex
		holders, runs := 0, 0
		hold := func(by int) {
			mu.Lock()
			defer mu.Unlock()
			holders += by
			runs++
			if holders > 1 {
				t.Error("two runs hold the lease")
			}
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					log, err := s.Open(context.Background(), "flights")
					if err != nil {
						if !errors.Is(err, ErrInUse) {
							t.Error(err)
						}
						continue
					}
					hold(1)
					runtime.Gosched()
					hold(-1)
					var closers sync.WaitGroup
					for range 2 {
						closers.Go(func() {
							if err := log.Close(); err != nil {
								t.Error(err)
							}
						})
					}
					closers.Wait()
				}
			})
		}
		wg.Wait()
		require.Positive(t, runs)
	})
}
