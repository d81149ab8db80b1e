package broker

import "github.com/runnel-go/runnel/transport/wire"

// producers are the idempotent producers of a partition: what they sent last, by which a repeat is known. (Iggy binary
// protocol, batch header; embedded server, sends.)
type producers struct {
	known map[uint64]*producer
	clock uint64 // counts the batches
}

// producer is one of them.
type producer struct {
	epoch uint16
	next  uint32      // sequence of the next message
	sent  []sentBatch // the last batches, the oldest first
	used  uint64      // by the clock
}

// sentBatch is a batch that is stored.
type sentBatch struct {
	sequence, count uint32
	offset          uint64
}

const (
	sentKept     = 64 // batches of a producer that a repeat is known of
	sequenceMask = 1<<31 - 1
	sequenceHalf = 1 << 30 // what is further ahead is behind: sequences go on with 0
)

// check says what to do with a batch: store it, or answer with the offset of what it repeats.
func (p *producers) check(h *wire.BatchHeader) (repeated bool, offset uint64, code wire.Code) {
	k := p.known[h.Producer.ID]
	sequence := h.Producer.BaseSequence
	switch {
	case k == nil && sequence > 0:
		return false, 0, wire.CodeProducerUnknown
	case k == nil:
		return false, 0, 0
	case h.Producer.Epoch < k.epoch:
		return false, 0, wire.CodeProducerEpochFenced
	case h.Producer.Epoch > k.epoch && sequence > 0:
		return false, 0, wire.CodeProducerSequenceOutOfOrder
	case h.Producer.Epoch > k.epoch, sequence == k.next:
		return false, 0, 0
	case (sequence-k.next)&sequenceMask < sequenceHalf:
		return false, 0, wire.CodeProducerSequenceOutOfOrder
	}
	for _, s := range k.sent {
		if s.sequence == sequence && s.count == h.Count {
			return true, s.offset, 0
		}
	}
	return false, 0, wire.CodeRequestAlreadyApplied // too long ago, or another cut of the same messages
}

// stored takes note of a batch. When there are too many producers, the one that was silent for the longest is forgotten.
func (p *producers) stored(h *wire.BatchHeader, offset uint64, most int) {
	k := p.known[h.Producer.ID]
	if k == nil {
		p.makeRoom(most)
		k = &producer{}
		p.known[h.Producer.ID] = k
	}
	if k.epoch != h.Producer.Epoch {
		*k = producer{epoch: h.Producer.Epoch}
	}
	p.clock++
	k.used = p.clock
	k.next = (h.Producer.BaseSequence + h.Count) & sequenceMask
	if len(k.sent) == sentKept {
		k.sent = append(k.sent[:0], k.sent[1:]...)
	}
	k.sent = append(k.sent, sentBatch{h.Producer.BaseSequence, h.Count, offset})
}

func (p *producers) makeRoom(most int) {
	if p.known == nil {
		p.known = map[uint64]*producer{}
	}
	if len(p.known) < most {
		return
	}
	var oldest uint64
	for id, k := range p.known {
		if o := p.known[oldest]; o == nil || k.used < o.used {
			oldest = id
		}
	}
	delete(p.known, oldest)
}
