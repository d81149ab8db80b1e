package checkpoint

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// taken is the time of every checkpoint that tests make.
var taken = time.Date(2026, 3, 29, 1, 59, 59, 123456789, time.UTC)

// full returns one stage's state with the given keys and values, in turn.
func full(stage string, pairs ...string) map[string]State {
	return map[string]State{stage: {Full: true, Put: entries(pairs)}}
}

// changes returns changes to one stage's state that set the given keys and values, in turn.
func changes(stage string, pairs ...string) map[string]State {
	return map[string]State{stage: {Put: entries(pairs)}}
}

func entries(pairs []string) map[string][]byte {
	put := make(map[string][]byte)
	for i := 0; i+1 < len(pairs); i += 2 {
		put[pairs[i]] = []byte(pairs[i+1])
	}
	return put
}

// flights returns a checkpoint of the pipeline flights, which has read n records.
func flights(n Number, states map[string]State) *Checkpoint {
	return &Checkpoint{
		Pipeline: "flights",
		Number:   n,
		Taken:    taken,
		Shape:    []string{"sink out", "source flights", "stage count"},
		Sources:  map[string]Position{"flights": {"a.ndjson": OffsetToken(int64(n), []byte("guard"))}},
		Sinks:    map[string][]byte{"out": {byte(n)}},
		States:   states,
	}
}

func open(t *testing.T, s Store) Log {
	t.Helper()
	log, err := s.Open(context.Background(), "flights")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log
}

func save(t *testing.T, log Log, list ...*Checkpoint) {
	t.Helper()
	for _, c := range list {
		require.NoError(t, log.Save(context.Background(), c))
	}
}

func load(t *testing.T, log Log, n Number) *Checkpoint {
	t.Helper()
	c, err := log.Load(context.Background(), n)
	require.NoError(t, err)
	return c
}
