package iggysink

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// transmit writes one request. If the partition that was chosen is missing, another one is chosen once.
func (p *Producer) transmit(
	ctx context.Context, to *topic, by wire.Partitioning, idempotent bool, messages []wire.Message,
) (at wire.Confirmation, found bool, err error) {
	if p.server.Sessionless() && by.Kind != wire.PartitionByID {
		return at, false, p.server.SendPartitioned(ctx, to.stream, to.topic, by, messages)
	}
	for fresh := false; ; fresh = true {
		id, err := p.choose(ctx, to, by, fresh)
		if err != nil {
			return at, false, err
		}
		if idempotent {
			at, found, err = p.transmitOnce(ctx, to, id, messages)
		} else {
			at, found, err = p.write(ctx, to.partition(id), nil, messages)
		}
		if fresh || by.Kind == wire.PartitionByID || !errors.Is(err, wire.CodePartitionNotFound) {
			return at, found, err
		}
		p.counts.retried.Add(1)
	}
}

// write writes a request to a partition. If an operation with an uncertain outcome that this producer left is in the way, it
// finds out about that first, within the time of one call. One that others left is for them to resolve: the error says which.
func (p *Producer) write(
	ctx context.Context, to client.Partition, producer *wire.Producer, messages []wire.Message,
) (at wire.Confirmation, found bool, err error) {
	begin := time.Now()
	at, found, err = p.server.Send(ctx, to, producer, messages)
	if operation, blocked := p.own.blocks(err); blocked {
		within, cancel := context.WithDeadlineCause(ctx, begin.Add(p.server.CallTimeout()), client.ErrDeadline)
		defer cancel()
		_, unresolved := p.server.ResolveOperation(within, operation)
		if errors.Is(unresolved, wire.CodeOperationUncertain) && !errors.Is(unresolved, client.ErrSessionReplaced) {
			return at, false, err
		}
		p.own.remove(operation)
		p.counts.retried.Add(1)
		at, found, err = p.server.Send(within, to, producer, messages)
	}
	p.own.note(err)
	return at, found, err
}

// mostOwn is how many operations with an uncertain outcome are remembered: as many as a client keeps outcomes of.
const mostOwn = 256

// ownOperations are those that this producer left with an uncertain outcome.
type ownOperations struct {
	mu         sync.Mutex
	operations []uint64 // the oldest first; guarded by mu
}

// note remembers the operation of an error, if its outcome is uncertain.
func (o *ownOperations) note(err error) {
	var e *client.Error
	if err == nil || !errors.As(err, &e) || e.Code != wire.CodeOperationUncertain || e.Operation == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.operations) == mostOwn {
		o.operations = slices.Delete(o.operations, 0, 1)
	}
	o.operations = append(o.operations, e.Operation)
}

// blocks returns the operation that an error says is in the way, if it is one of these.
func (o *ownOperations) blocks(err error) (operation uint64, own bool) {
	var e *client.Error
	if err == nil || !errors.As(err, &e) || e.Code != wire.CodeLaneBlocked {
		return 0, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return e.Operation, slices.Contains(o.operations, e.Operation)
}

func (o *ownOperations) remove(operation uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.operations, operation); i >= 0 {
		o.operations = slices.Delete(o.operations, i, i+1)
	}
}
