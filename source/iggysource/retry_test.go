package iggysource

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// readError returns what err is about.
func readError(t *testing.T, err error) *ReadError {
	t.Helper()
	var e *ReadError
	require.ErrorAs(t, err, &e)
	return e
}

func TestErrorsThatPassAreNotTold(t *testing.T) {
	t.Parallel()
	for _, code := range []wire.Code{
		wire.CodeTransientNotCommitted, wire.CodeTransientNotAccepted, wire.CodeLifecycleBusy, wire.CodeNotPrimary,
		wire.CodeDeferredPollCapacityExceeded, wire.CodeDisconnected, wire.CodeNotConnected,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			alone(t, []uint32{0, 1}, []Option{Partitions(0, 1)}, func(t *testing.T, f *fake, c *Consumer) {
				var reads atomic.Int32
				f.onRead = func(uint32) error {
					if reads.Add(1) <= 20 {
						return coded(code)
					}
					return nil
				}
				f.add(1, 0, 3)
				begin := time.Now()
				require.Equal(t, texts(1, 0, 3), take(t, c, 3))
				require.Less(t, time.Since(begin), 21*longestPause)
				require.NotZero(t, c.Stats().Retried)
			})
		})
	}
}

func TestAPartitionStopsAfterSixLastingErrorsUntilASeek(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0, 1}, []Option{Partitions(0, 1), Count(1)}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 1)
		f.add(1, 0, 2)
		begin, broken := time.Now(), true
		f.onRead = func(partition uint32) error {
			if partition == 0 && broken {
				return coded(wire.CodeUnauthorized)
			}
			return nil
		}
		got := map[uint32]int{}
		for e := (*ReadError)(nil); e == nil; {
			m, err := c.Next(t.Context())
			if err == nil {
				got[m.Partition]++
				continue
			}
			e = readError(t, err)
			require.Equal(t, wire.Partition(0), e.Partition)
			require.ErrorIs(t, e, wire.CodeUnauthorized)
			require.Zero(t, e.Skip.Kind)
		}
		require.Equal(t, 31*time.Second, time.Since(begin).Truncate(time.Second), "1, 2, 4, 8 and 16 s between six attempts")
		require.Equal(t, 1, c.Stats().Stopped)
		time.Sleep(time.Hour)
		require.Equal(t, map[uint32]int{1: 2}, got, "another partition is read meanwhile")

		f.set(func() { broken = false })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "it stands still until a seek")
		require.NoError(t, c.Seek(t.Context(), 0, FromFirst()))
		require.Equal(t, texts(0, 0, 1), take(t, c, 1))
	})
}

func TestAnotherLifeOfAPartitionStopsItUntilASeek(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Partitions(0)}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 3)
		m, err := c.Next(t.Context())
		require.NoError(t, err)
		take(t, c, 2)
		f.set(func() { f.life++ })
		_, err = c.Next(t.Context())
		require.ErrorIs(t, readError(t, err), wire.CodeHistoryUnavailable)
		require.ErrorIs(t, c.Commit(t.Context(), m.Checkpoint()), wire.CodeHistoryUnavailable)
		require.EqualValues(t, 1, c.Stats().Refused)
		require.NoError(t, c.Seek(t.Context(), 0, FromFirst()))
		require.Equal(t, texts(0, 0, 3), take(t, c, 3))
		require.NoError(t, c.Commit(t.Context(), m.Checkpoint()), "what is from before a seek is not stored, which is no error")
		require.Equal(t, -1, f.storedAt(0))
	})
}

func TestAClientThatIsShutDownEndsReading(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Partitions(0)}, func(t *testing.T, f *fake, c *Consumer) {
		f.onRead = func(uint32) error { return coded(wire.CodeClientShutdown) }
		var all []error
		for _, err := range c.Messages(t.Context()) {
			all = append(all, err)
		}
		require.Len(t, all, 1)
		e := readError(t, all[0])
		require.ErrorIs(t, e, wire.CodeClientShutdown)
		require.False(t, e.Partition.Present)
		_, err := c.Next(t.Context())
		require.ErrorIs(t, err, wire.CodeClientShutdown, "for ever")
	})
}

func TestAMessageThatCannotBeDecodedIsToldAgainUntilItIsSkipped(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0, 1), Start(FromFirst())}
	alone(t, []uint32{0, 1}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 6)
		f.records = func(partition uint32, records []byte) []byte {
			r := wire.NewRecords(records)
			at := wire.BatchHeaderSize
			for partition == 0 && r.Next() {
				if m := r.Message(); m.Offset != 3 {
					at += wire.MessageHeaderSize + len(m.Payload)
					continue
				}
				spoilt := slices.Clone(records)
				spoilt[at+39] = 0xff // length of the payload
				return spoilt
			}
			return records
		}
		require.Equal(t, texts(0, 0, 3), take(t, c, 3))
		for range 3 {
			begin := time.Now()
			_, err := c.Next(t.Context())
			e := readError(t, err)
			require.ErrorIs(t, e, ErrUndecodable)
			require.Equal(t, wire.Partition(0), e.Partition)
			require.EqualValues(t, 3, e.Offset)
			require.Equal(t, FromOffset(4), e.Skip)
			require.Nil(t, e.Record)
			require.LessOrEqual(t, time.Since(begin), retryInterval)
		}
		f.add(1, 0, 2)
		require.Equal(t, texts(1, 0, 2), take(t, c, 2), "other partitions go on")
		require.NoError(t, c.Seek(t.Context(), 0, FromOffset(4)))
		require.Equal(t, texts(0, 4, 6), take(t, c, 2))
	})
}

func TestGarbageIsReadAgainAndHasNothingToSkip(t *testing.T) {
	t.Parallel()
	alone(t, []uint32{0}, []Option{Partitions(0)}, func(t *testing.T, f *fake, c *Consumer) {
		f.add(0, 0, 3)
		garbage := true
		f.records = func(_ uint32, records []byte) []byte {
			if garbage {
				return records[:17]
			}
			return records
		}
		_, err := c.Next(t.Context())
		e := readError(t, err)
		require.ErrorIs(t, e, ErrUndecodable)
		require.Zero(t, e.Skip.Kind)
		f.set(func() { garbage = false })
		require.Equal(t, texts(0, 0, 3), take(t, c, 3))
	})
}

func TestReadsAreUnderWayWhileMessagesAreHandedOut(t *testing.T) {
	t.Parallel()
	opts := []Option{Partitions(0, 1, 2, 3), Count(10), PrefetchMessages(50), Start(FromFirst())}
	alone(t, []uint32{0, 1, 2, 3}, opts, func(t *testing.T, f *fake, c *Consumer) {
		for p := range uint32(4) {
			f.add(p, 0, 100)
		}
		synctest.Wait()
		require.Zero(t, c.Stats().Read, "nothing is read before it is asked for")
		take(t, c, 1)
		synctest.Wait()
		s := c.Stats()
		require.EqualValues(t, 50, s.Read, "as many reads as the bound on messages allows")
		require.Equal(t, 40, s.Buffered)
		require.Positive(t, s.BufferedBytes)
		got := map[uint32]int{0: 1}
		for range 399 {
			m, err := c.Next(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, c.Stats().Buffered, 50)
			got[m.Partition]++
		}
		require.Equal(t, map[uint32]int{0: 100, 1: 100, 2: 100, 3: 100}, got)
		require.Zero(t, c.Stats().Lag)
	})
}

func TestPartitionsTakeTurns(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string]int{"one read at a time": 10, "several": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := []Option{Partitions(0, 1, 2), Count(10), PrefetchMessages(messages), Start(FromFirst())}
			alone(t, []uint32{0, 1, 2}, opts, func(t *testing.T, f *fake, c *Consumer) {
				f.add(0, 0, 10_000)
				f.add(1, 0, 10_000)
				take(t, c, 500)
				f.add(2, 0, 1)
				for seen, n := false, 0; !seen; n++ {
					m, err := c.Next(t.Context())
					require.NoError(t, err)
					seen = m.Partition == 2
					require.Less(t, n, 1000, "one with little to read waits for those with much")
				}
			})
		})
	}
}

func TestWhatCannotBeReturnedIsLogged(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	opts := []Option{Group(), Log(slog.New(slog.NewTextHandler(&text, nil)))}
	alone(t, []uint32{0}, opts, func(t *testing.T, f *fake, c *Consumer) {
		f.onRead = func(uint32) error { return coded(wire.CodeUnauthorized) }
		_, err := c.Next(t.Context())
		require.ErrorIs(t, err, wire.CodeUnauthorized)
		f.set(func() { f.assigned = nil })
		time.Sleep(2 * syncInterval)
		require.NoError(t, c.Shutdown(t.Context()))
		for _, line := range []string{"partition assigned", "cannot be read", "attempt=5", "taken away"} {
			require.Contains(t, text.String(), line)
		}
	})
}
