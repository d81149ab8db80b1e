package iggysource

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// alone runs a test with a fake and a consumer of it that is ready, in a bubble where time is the test's.
func alone(t *testing.T, partitions []uint32, opts []Option, test func(t *testing.T, f *fake, c *Consumer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(partitions...)
		c := newConsumer(f, "reader", stream, topic, opts)
		require.NoError(t, c.Init(t.Context()))
		defer func() { _ = c.Shutdown(context.Background()) }()
		test(t, f, c)
	})
}

func TestAutomaticCommitsComeByTimeAndByNumber(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		auto         AutoCommit
		at, after, d int // stored once 25 messages were handed out, after d seconds more, and behind Shutdown
	}{
		"by default by time":        {DefaultAutoCommit(), -1, 23, 5},
		"by number":                 {AutoCommit{Messages: 10}, 19, 19, 60},
		"each message":              {AutoCommit{Messages: 1}, 23, 23, 60},
		"each batch":                {AutoCommit{EachBatch: true}, 19, 19, 60}, // of 10
		"by time once it is over":   {AutoCommit{Interval: time.Minute}, -1, -1, 59},
		"after delivery":            {AutoCommit{Messages: 1, After: AfterDelivery}, 24, 24, 60},
		"after delivery, by number": {AutoCommit{Messages: 10, After: AfterDelivery}, 19, 19, 60},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := []Option{Partitions(0), Count(10), CommitAutomatically(tt.auto)}
			alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
				f.add(0, 0, 40)
				for _, n := range []int{20, 1, 4} {
					take(t, c, n)
					synctest.Wait() // the store runs beside
				}
				require.Equal(t, tt.at, f.storedAt(0))
				time.Sleep(time.Duration(tt.d)*time.Second + time.Millisecond)
				synctest.Wait()
				require.Equal(t, tt.after, f.storedAt(0))
				require.NoError(t, c.Shutdown(t.Context()))
				require.Equal(t, 24, f.storedAt(0), "what was handed out counts at the end")
			})
		})
	}
}

func TestMarksSayWhatIsCommitted(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0), CommitAutomatically(AutoCommit{Interval: time.Second, After: AfterMark})}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 10)
		var marks []Checkpoint
		for range 6 {
			m, err := c.Next(t.Context())
			require.NoError(t, err)
			marks = append(marks, m.Checkpoint())
		}
		require.NoError(t, c.Mark(marks[3]))
		require.NoError(t, c.Mark(marks[1]), "an earlier one changes nothing")
		require.Equal(t, -1, f.storedAt(0))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 3, f.storedAt(0))
		require.NoError(t, c.Mark(marks[4]))
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, 4, f.storedAt(0))
	})
}

func TestAMessageWhoseHandlerFailedDoesNotCount(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0), CommitAutomatically(DefaultAutoCommit())}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 10)
		bad := errors.New("bad")
		handled := 0
		err := c.Consume(t.Context(), func(_ context.Context, m Message) error {
			if m.Offset == 4 {
				return bad
			}
			handled++
			return nil
		})
		require.ErrorIs(t, err, bad)
		require.Equal(t, 4, handled)
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, 3, f.storedAt(0))
	})
}

func TestConsumeEndsWithTheConsumerAndWithItsContext(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Partitions(0)}, func(t *testing.T, _ *fake, c *Consumer) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		never := func(context.Context, Message) error { return errors.New("there is no message") }
		require.ErrorIs(t, c.Consume(ctx, never), context.DeadlineExceeded)
		ended := make(chan error)
		go func() { ended <- c.Consume(t.Context(), never) }()
		synctest.Wait()
		require.NoError(t, c.Shutdown(t.Context()))
		require.NoError(t, <-ended)
	})
}

func TestAnOffsetThatIsRefusedIsCountedAndNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(f *fake){
		"another life":  func(f *fake) { f.life++ },
		"another owner": func(f *fake) { f.owner++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := []Option{Partitions(0), CommitAutomatically(AutoCommit{Interval: time.Second, After: AfterDelivery})}
			alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
				f.add(0, 0, 10)
				take(t, c, 5)
				f.set(func() { lose(f) })
				time.Sleep(time.Minute)
				synctest.Wait()
				require.EqualValues(t, 1, c.Stats().Refused)
				require.Equal(t, 1, f.count("store"))
				require.Equal(t, -1, f.storedAt(0))
			})
		})
	}
}

func TestAStoreThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0), CommitAutomatically(AutoCommit{Interval: time.Second, After: AfterDelivery})}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		failures := 2
		f.onStore = func(uint32, uint64) error {
			if failures--; failures >= 0 {
				return coded(wire.CodeTransientNotAccepted)
			}
			return nil
		}
		f.add(0, 0, 10)
		take(t, c, 5)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 4, f.storedAt(0))
		require.Equal(t, 3, f.count("store"))
		require.EqualValues(t, 1, c.Stats().Committed)
	})
}

func TestAnUnknownOutcomeIsFoundOutBeforeTheNextStore(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Partitions(0)}, func(t *testing.T, f *fake, c *Consumer) {
		first := true
		f.onStore = func(uint32, uint64) error {
			defer func() { first = false }()
			if first {
				return &client.Error{Code: wire.CodeOperationUncertain, Operation: 9}
			}
			return nil
		}
		f.add(0, 0, 10)
		m, err := c.Next(t.Context())
		require.NoError(t, err)
		err = c.Commit(t.Context(), m.Checkpoint())
		require.ErrorIs(t, err, wire.CodeOperationUncertain)
		require.EqualValues(t, 9, errorOf(t, err).Operation)
		require.Zero(t, f.count("resolve"))
		require.NoError(t, c.Commit(t.Context(), m.Checkpoint()))
		require.Equal(t, 1, f.count("resolve"))
		require.NoError(t, c.Commit(t.Context(), m.Checkpoint()), "it is stored already")
		require.Equal(t, 2, f.count("store"))
		require.NoError(t, c.AbandonOperation(9))
		require.Equal(t, 1, f.count("abandon"))
	})
}
