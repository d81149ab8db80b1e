package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func producerBatch(sequence, count uint32) *wire.BatchHeader {
	return &wire.BatchHeader{Count: count, Idempotent: true, Producer: wire.Producer{ID: 4, BaseSequence: sequence}}
}

func TestSequencesGoOnWithZeroBehindTheLast(t *testing.T) {
	t.Parallel()
	var p producers
	p.stored(producerBatch(0, 1<<30), 0, 9)
	p.stored(producerBatch(1<<30, 1<<30-1), 1<<30, 9)
	p.stored(producerBatch(1<<31-1, 3), 7, 9)
	repeated, _, code := p.check(producerBatch(2, 1))
	require.Zero(t, code)
	require.False(t, repeated)
	repeated, offset, code := p.check(producerBatch(1<<31-1, 3))
	require.Zero(t, code)
	require.True(t, repeated)
	require.Equal(t, uint64(7), offset)
	_, _, code = p.check(producerBatch(3, 1))
	require.Equal(t, wire.CodeProducerSequenceOutOfOrder, code)
}

func TestARepeatFromLongAgoIsAppliedAlready(t *testing.T) {
	t.Parallel()
	var p producers
	for i := range uint32(sentKept + 1) {
		p.stored(producerBatch(i, 1), uint64(i), 9)
	}
	_, _, code := p.check(producerBatch(0, 1))
	require.Equal(t, wire.CodeRequestAlreadyApplied, code)
	repeated, offset, _ := p.check(producerBatch(1, 1))
	require.True(t, repeated)
	require.Equal(t, uint64(1), offset)
}
