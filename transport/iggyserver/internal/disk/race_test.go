package disk

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestReadsGoOnWhileBatchesComeAndGo(t *testing.T) {
	t.Parallel()
	options := quiet()
	options.OpenFiles = 3
	w := start(t, t.TempDir(), 4000, options)
	defer w.stop(t)
	w.put(t, 1, 1)
	end := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() { readUntil(t, w, end) })
	}
	for i := range 500 {
		w.put(t, uint64(i+2), 1+i%9)
		if i%50 == 49 {
			require.NoError(t, w.log.DropSegments(2))
		}
	}
	close(end)
	readers.Wait()
}

// readUntil reads from the beginning again and again: offsets are without gaps, from the oldest on.
func readUntil(t *testing.T, w *world, end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
		}
		span := w.log.Span()
		records, _, err := w.log.Read(nil, span.First, everything)
		if err == nil {
			_, err = w.log.Since(span.Latest)
		}
		r := wire.NewRecords(records)
		for next := uint64(0); err == nil && r.Next(); next = r.Message().Offset + 1 {
			if o := r.Message().Offset; next != 0 && o != next || o < span.First {
				t.Errorf("offset %d follows %d", o, next)
				return
			}
		}
		if err != nil || r.Err() != nil {
			t.Errorf("read: %v, %v", err, r.Err())
			return
		}
	}
}
