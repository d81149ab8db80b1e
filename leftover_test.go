package runnel_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// deafReader does not heed the context of Read: only Close wakes it, and it takes a while to return.
type deafReader struct {
	closed   chan struct{}
	returned atomic.Bool
}

func (r *deafReader) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[int], error) {
	return r, nil
}

func (r *deafReader) Read(context.Context) (runnel.Fetch[int], error) {
	<-r.closed
	time.Sleep(time.Second)
	r.returned.Store(true)
	return runnel.Fetch[int]{}, context.Canceled
}

func (r *deafReader) Commit(context.Context, checkpoint.Position) error { return nil }

func (r *deafReader) Close(context.Context) error {
	close(r.closed)
	return nil
}

// Invariant 7: Run leaves no goroutine behind, also where a Read ends late.
func TestRunReturnsOnlyWhenEveryReadHas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &deafReader{closed: make(chan struct{})}
		p := runnel.New("deaf")
		runnel.From(p, r).To(&collect[int]{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, p.Run(ctx))
		require.True(t, r.returned.Load())
	})
}
