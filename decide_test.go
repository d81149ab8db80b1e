package runnel_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// slowStore is a store that takes its time to save, or not.
type slowStore struct {
	checkpoint.Store
	save func(ctx context.Context) error
}

func (s slowStore) Open(ctx context.Context, p string) (checkpoint.Log, error) {
	log, err := s.Store.Open(ctx, p)
	return slowLog{log, s.save}, err
}

type slowLog struct {
	checkpoint.Log
	save func(ctx context.Context) error
}

func (l slowLog) Save(ctx context.Context, c *checkpoint.Checkpoint) error {
	if err := l.save(ctx); err != nil {
		return err
	}
	return l.Log.Save(ctx, c)
}

// slowState is a stage whose snapshot takes its time.
type slowState struct {
	total
	hold func(ctx context.Context) error
}

func (s *slowState) Snapshot(n checkpoint.Number, w runnel.SnapshotWriter) error {
	if err := s.hold(context.Background()); err != nil {
		return err
	}
	return s.total.Snapshot(n, w)
}

// Invariant 1: while any writer, any snapshot or the store has still to do its part of a checkpoint, nothing of it is
// published or committed; and if it then fails, nothing of it ever is.
func TestNothingIsPublishedOrCommittedBeforeEveryPartHasReported(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"flush", "barrier", "prepare 1", "snapshot", "save", "decide 1"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hold := func(context.Context) error {
					time.Sleep(time.Hour)
					return errBroken
				}
				pass := func(context.Context) error { return nil }
				src, slow, files := &numbers{n: 4}, &collect[int]{}, &collect[int]{kind: txSink}
				snapshot, save := pass, pass
				switch part {
				case "barrier":
					slow.kind = lateSink
					slow.onDone = func(_ int, done func(error)) { time.AfterFunc(time.Hour, func() { done(errBroken) }) }
				case "prepare 1":
					slow.kind = txSink
				case "decide 1":
					slow.kind = decidingSink
				case "snapshot":
					snapshot = hold
				case "save":
					save = hold
				}
				slow.onCall = on(part, hold)
				store := checkpoint.Memory()
				p := runnel.New("p", runnel.Checkpoint(slowStore{store, save}))
				s := runnel.From(p, src)
				runnel.Apply(s, "state", nil, func(runnel.StageEnv) (runnel.Stage[int, int], error) {
					return &slowState{hold: snapshot}, nil
				}, runnel.Stateful()).To(files)
				s.To(slow)
				_, done := run(t, p)
				nothing := func() {
					for _, line := range append(src.all(), files.all()...) {
						require.False(t, strings.HasPrefix(line, "commit"), line)
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				nothing()
				require.Len(t, p.Status().Open, 1)
				require.ErrorIs(t, <-done, errBroken)
				nothing()
				log, err := store.Open(t.Context(), "p")
				require.NoError(t, err)
				_, err = log.Load(t.Context(), 0)
				if part == "decide 1" { // what is stored counts only if the sink has decided it
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, checkpoint.ErrNotFound)
			})
		})
	}
}
