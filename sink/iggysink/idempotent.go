package iggysink

import (
	"context"
	"errors"
	"sync"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Limits of an idempotent producer.
const (
	resends      = 3         // of a request with an uncertain outcome
	lastEpoch    = 1<<15 - 1 // behind it comes another producer
	sequenceMask = 1<<31 - 1 // a sequence goes on with 0
)

// sequences count the messages of an idempotent producer of one topic, partition by partition. (Iggy, idempotent producers.)
type sequences struct {
	mu         sync.Mutex
	known      bool                 // there is an id; guarded by mu
	id         uint64               // guarded by mu
	epoch      uint16               // guarded by mu
	partitions map[uint32]*sequence // guarded by mu
}

// sequence counts the messages of one partition. Who holds turn sends, one request at a time.
type sequence struct {
	turn chan struct{}
	next wire.Producer // what the next request carries, of the id and epoch that it counts for
}

// identify takes a number for the producer, if there is none.
func (s *sequences) identify(from server) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		return nil
	}
	id, err := from.NextProducerID()
	if err == nil {
		s.known, s.id, s.epoch = true, id, 0
	}
	return err
}

// of returns the sequence of a partition.
func (s *sequences) of(partition uint32) *sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.partitions == nil {
		s.partitions = map[uint32]*sequence{}
	}
	q := s.partitions[partition]
	if q == nil {
		q = &sequence{turn: make(chan struct{}, 1)}
		s.partitions[partition] = q
	}
	return q
}

// begin returns what the next request of a partition carries. A new id or epoch begins with 0.
func (s *sequences) begin(q *sequence) wire.Producer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.next.ID != s.id || q.next.Epoch != s.epoch {
		q.next = wire.Producer{ID: s.id, Epoch: s.epoch}
	}
	return q.next
}

// move goes on to the epoch behind that of a request, if no other request did.
func (s *sequences) move(behind wire.Producer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.known || s.id != behind.ID || s.epoch != behind.Epoch:
	case s.epoch == lastEpoch:
		s.known = false
	default:
		s.epoch++
	}
}

// transmitOnce writes a request to a partition so that it is stored once, however often it is sent.
func (p *Producer) transmitOnce(
	ctx context.Context, to *topic, partition uint32, messages []wire.Message,
) (at wire.Confirmation, found bool, err error) {
	q := to.sequences.of(partition)
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return at, false, &client.Error{Code: wire.CodeTransientNotAccepted, Call: callSend, Err: context.Cause(ctx)}
	}
	defer func() { <-q.turn }()
	section, err := p.section(to, q)
	if err != nil {
		return at, false, err
	}
	var doubt *client.Error // the first outcome that was uncertain
	for attempt := 1; ; attempt++ {
		at, found, err = p.write(ctx, to.partition(partition), &section, messages)
		if err == nil {
			section.BaseSequence = (section.BaseSequence + uint32(len(messages))) & sequenceMask
			q.next = section
			return at, found, nil
		}
		again := attempt <= resends && ctx.Err() == nil
		switch {
		case again && client.CodeOf(err) == wire.CodeOperationUncertain:
			doubt = p.giveUp(err, doubt) // with the same section it is stored once, whether or not it was by now
		case again && client.CodeOf(err) == wire.CodeProducerUnknown && doubt == nil:
			to.sequences.move(section) // nothing was stored, and the partition does not know the producer any more
			if section, err = p.section(to, q); err != nil {
				return at, false, err
			}
		default:
			p.end(to, section, err)
			return at, false, inDoubt(doubt, err)
		}
		p.counts.retried.Add(1)
	}
}

// section returns what the next request of a partition carries.
func (p *Producer) section(to *topic, q *sequence) (wire.Producer, error) {
	if p.fenced.Load() {
		return wire.Producer{}, &client.Error{Code: wire.CodeProducerEpochFenced, Call: callSend}
	}
	if err := to.sequences.identify(p.server); err != nil {
		return wire.Producer{}, err
	}
	return to.sequences.begin(q), nil
}

// giveUp frees the partition from an operation whose outcome is uncertain, as it is sent anew. It returns the first such error.
func (p *Producer) giveUp(err error, first *client.Error) *client.Error {
	var e *client.Error
	if errors.As(err, &e) {
		p.own.remove(e.Operation)
		_ = p.server.AbandonOperation(e.Operation) // it may be gone with its session
	}
	if first != nil {
		return first
	}
	return e
}

// end takes note of a request that failed for good: the next one begins an epoch, so that it does not follow a hole.
func (p *Producer) end(to *topic, section wire.Producer, err error) {
	if errors.Is(err, wire.CodeProducerEpochFenced) {
		p.fenced.Store(true)
	}
	to.sequences.move(section)
}

// inDoubt is the error of a request that failed: that its outcome is uncertain if any attempt was, or else why.
func inDoubt(uncertain *client.Error, err error) error {
	if uncertain == nil || client.CodeOf(err) == wire.CodeOperationUncertain {
		return err
	}
	return &client.Error{
		Code: wire.CodeOperationUncertain, Call: uncertain.Call, Addr: uncertain.Addr, Operation: uncertain.Operation, Err: err,
	}
}
