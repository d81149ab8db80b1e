package iggysink

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// stuck is a server that answers nothing until it is let go.
type stuck struct {
	*fake
	letGo chan struct{}
}

func (s stuck) Send(
	ctx context.Context, _ client.Partition, _ *wire.Producer, _ []wire.Message,
) (wire.Confirmation, bool, error) {
	select {
	case <-s.letGo:
	case <-ctx.Done():
	}
	return wire.Confirmation{}, false, nil
}

// What the buffer takes of the heap is within its bound and a tenth. It runs alone, as it looks at all of the heap.
func TestTheMemoryOfAFullBufferIsBounded(t *testing.T) {
	for name, size := range map[string]int{"small messages": 100, "large ones": 1024, "larger ones": 5000} {
		t.Run(name, func(t *testing.T) {
			const most = 32 << 20
			s := stuck{newFake(), make(chan struct{})}
			p := newProducer(s, wire.Named("s"), wire.Named("t"), []Option{Background(FailImmediately(), MaxBufferBytes(most))})
			require.NoError(t, p.Init(t.Context()))
			all := thousand(size)
			before := heap()
			var err error
			for err == nil {
				_, err = p.Send(t.Context(), all)
			}
			require.ErrorIs(t, err, wire.CodeBackgroundSendBufferOverflow)
			took := heap() - before
			t.Logf("%d MiB of the heap for %d MiB of messages", took>>20, p.Stats().BufferedBytes>>20)
			require.LessOrEqual(t, took, int64(most+most/10))
			require.Greater(t, p.Stats().BufferedBytes, int64(most-most/6))
			close(s.letGo)
			require.NoError(t, p.Shutdown(t.Context()))
			require.Zero(t, p.Stats().BufferedBytes)
		})
	}
}

// heap is what of the heap is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
