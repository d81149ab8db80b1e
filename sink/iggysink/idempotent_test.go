package iggysink

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// sections are what the sends so far carried.
func sections(f *fake) []wire.Producer {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []wire.Producer
	for _, s := range f.sent {
		all = append(all, *s.producer)
	}
	return all
}

func section(id uint64, epoch uint16, sequence uint32) wire.Producer {
	return wire.Producer{ID: id, Epoch: epoch, BaseSequence: sequence}
}

func TestSequencesCountTheMessagesOfEachPartition(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.partitions = 2
		for range 3 {
			_, err := p.Send(t.Context(), texts(numbered(0, 5)...))
			require.NoError(t, err)
		}
		_, err := p.SendTo(t.Context(), wire.Named("s"), wire.Named("other"), texts("x"), wire.Partitioning{})
		require.NoError(t, err)
		require.Equal(t, []wire.Producer{
			section(1, 0, 0), section(1, 0, 0), // three messages to partition 0, and two to partition 1
			section(1, 0, 3), section(1, 0, 2),
			section(1, 0, 6), section(1, 0, 4),
			section(2, 0, 0),
		}, sections(f), "each topic has a producer of its own")
	}, Idempotent(), Direct(BatchLength(3)))
}

func TestASequenceGoesOnWithZeroBehindTheLast(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		require.NoError(t, send(t, p, "a"))
		p.home.sequences.partitions[0].next.BaseSequence = sequenceMask - 1
		_, err := p.Send(t.Context(), texts("b", "c", "d"))
		require.NoError(t, err)
		require.NoError(t, send(t, p, "e"))
		require.Equal(t, []wire.Producer{section(1, 0, 0), section(1, 0, 1<<31-2), section(1, 0, 1)}, sections(f))
	}, Idempotent())
}

func TestWhatAnIdempotentProducerDoesAboutAnswers(t *testing.T) {
	unknown, full := fault(wire.CodeProducerUnknown), fault(wire.CodeTopicFull)
	gone := &client.Error{Code: wire.CodeOperationUncertain, Operation: 9, Err: client.ErrSessionReplaced}
	first := section(1, 0, 1)
	for name, c := range map[string]struct {
		answers   []error
		err       wire.Code       // of the send, 0 for success
		sent      []wire.Producer // for it
		abandoned []uint64
		next      wire.Producer // of the send behind it, to the other partition too
		sequence  uint32
	}{
		"success": {sent: []wire.Producer{first}, next: section(1, 0, 2), sequence: 1},
		"a lost reply": {
			answers: []error{uncertainOf(7)}, sent: []wire.Producer{first, first}, abandoned: []uint64{7}, next: section(1, 0, 2),
		},
		"a lost session": {
			answers: []error{gone}, sent: []wire.Producer{first, first}, abandoned: []uint64{9}, next: section(1, 0, 2),
		},
		"too many lost replies": {
			answers: []error{uncertainOf(7), uncertainOf(8), uncertainOf(9), uncertainOf(10)}, err: wire.CodeOperationUncertain,
			sent: []wire.Producer{first, first, first, first}, abandoned: []uint64{7, 8, 9}, next: section(1, 1, 0),
		},
		"the producer is unknown": {
			answers: []error{unknown}, sent: []wire.Producer{first, section(1, 1, 0)}, next: section(1, 1, 1),
		},
		"it is unknown for ever": {
			answers: []error{unknown, unknown, unknown, unknown}, err: wire.CodeProducerUnknown,
			sent: []wire.Producer{first, section(1, 1, 0), section(1, 2, 0), section(1, 3, 0)}, next: section(1, 4, 0),
		},
		"it is unknown behind a lost reply": {
			answers: []error{uncertainOf(7), unknown}, err: wire.CodeOperationUncertain,
			sent: []wire.Producer{first, first}, abandoned: []uint64{7}, next: section(1, 1, 0),
		},
		"it is refused behind a lost reply": {
			answers: []error{uncertainOf(7), full}, err: wire.CodeOperationUncertain,
			sent: []wire.Producer{first, first}, abandoned: []uint64{7}, next: section(1, 1, 0),
		},
		"out of order": {
			answers: []error{fault(wire.CodeProducerSequenceOutOfOrder)}, err: wire.CodeProducerSequenceOutOfOrder,
			sent: []wire.Producer{first}, next: section(1, 1, 0),
		},
		"refused": {
			answers: []error{full}, err: wire.CodeTopicFull, sent: []wire.Producer{first}, next: section(1, 1, 0),
		},
		"another operation in the way": {
			answers: []error{blockedBy(3)}, err: wire.CodeLaneBlocked, sent: []wire.Producer{first}, next: section(1, 1, 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				require.NoError(t, send(t, p, "a"))
				f.next(c.answers...)
				err := send(t, p, "b")
				if c.err == 0 {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, failedOf(t, err).Cause, c.err)
					require.Equal(t, c.err == wire.CodeOperationUncertain, failedOf(t, err).Uncertain == 1)
				}
				require.Equal(t, c.sent, sections(f)[1:])
				require.Equal(t, c.abandoned, f.abandoned)
				require.EqualValues(t, len(c.sent)-1, p.Stats().Retried)
				require.NoError(t, send(t, p, "c"))
				require.Equal(t, c.next, sections(f)[1+len(c.sent)])
				_, err = p.SendWithPartitioning(t.Context(), texts("d"), ToPartition(1))
				require.NoError(t, err)
				require.Equal(t, section(1, c.next.Epoch, 0), sections(f)[2+len(c.sent)], "an epoch is of all partitions")
			}, Idempotent())
		})
	}
}

func TestAProducerThatIsFencedStopsForGood(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(fault(wire.CodeProducerEpochFenced))
		require.ErrorIs(t, send(t, p, "a"), wire.CodeProducerEpochFenced)
		require.ErrorIs(t, send(t, p, "b"), wire.CodeProducerEpochFenced)
		_, err := p.SendTo(t.Context(), wire.Named("s"), wire.Named("other"), texts("x"), wire.Partitioning{})
		require.ErrorIs(t, err, wire.CodeProducerEpochFenced)
		require.Len(t, f.requests(), 1)
	}, Idempotent())
}

func TestBehindTheLastEpochComesAnotherProducer(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		p.home.sequences.epoch = lastEpoch
		f.next(fault(wire.CodeTopicFull), nil)
		require.ErrorIs(t, send(t, p, "a"), wire.CodeTopicFull)
		require.NoError(t, send(t, p, "b"))
		f.refuse["NextProducerID"] = fault(wire.CodeProducerIDsExhausted)
		p.home.sequences.epoch = lastEpoch
		f.next(fault(wire.CodeProducerUnknown))
		require.ErrorIs(t, send(t, p, "c"), wire.CodeProducerIDsExhausted)
		require.Equal(t, []wire.Producer{section(1, lastEpoch, 0), section(2, 0, 0), section(2, lastEpoch, 0)}, sections(f))
	}, Idempotent())
}

func TestRequestsToOnePartitionAreSentOneAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		done := make(chan error, 8)
		for i := range 8 {
			go func() {
				_, err := p.SendWithPartitioning(context.Background(), texts("x"), ToPartition(uint32(i%2)))
				done <- err
			}()
		}
		for range 8 {
			require.NoError(t, <-done)
		}
		require.Equal(t, 2, f.most, "partitions do not wait for each other")
		require.Equal(t, 4*time.Second, time.Since(epoch))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		go func() { done <- send(t, p, "a") }()
		synctest.Wait()
		_, err := p.Send(ctx, texts("b"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, failedOf(t, err).Uncertain)
		require.NoError(t, <-done)
	}, Idempotent(), slow(time.Second))
}

func TestASendThatIsCanceledIsNotSentAgain(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Send(ctx, texts("a"))
		require.ErrorIs(t, err, wire.CodeOperationUncertain)
		require.Equal(t, 1, failedOf(t, err).Uncertain)
		require.Len(t, f.requests(), 1)
		require.Empty(t, f.abandoned, "it can be resolved")
	}, Idempotent(), slow(time.Minute))
}
