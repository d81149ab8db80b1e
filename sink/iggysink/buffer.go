package iggysink

import (
	"bytes"
	"slices"
	"sync"

	"github.com/runnel-go/runnel/transport/wire"
)

const (
	blockBytes = 64 << 10
	// ownBytes is from which length on a payload has memory of its own: so little is left over at the end of a block.
	ownBytes = blockBytes / 16
	// messageBytes is the size of a wire.Message.
	messageBytes = 96
	// keptMessages is how many messages a request keeps room for when it is used again.
	keptMessages = 16 << 10
)

// sizeOf is the memory that a message takes while it is buffered.
func sizeOf(m *wire.Message) int64 { return messageBytes + int64(len(m.Payload)+len(m.UserHeaders)) }

// request is what is written at once: messages for one place, in order.
type request struct {
	to       *topic
	by       wire.Partitioning // its key is in the buffer
	messages []wire.Message
	rows     []uint32 // of a pipeline: which record each message is, behind the first one of the buffer
	extent   extent
	bytes    int64 // by sizeOf
}

// goesTo says whether a message for a place may be in the request.
func (r *request) goesTo(to *topic, by *wire.Partitioning) bool {
	return r.to == to && r.by.Kind == by.Kind && r.by.Partition == by.Partition && bytes.Equal(r.by.Key, by.Key)
}

// place is what requests of a buffer are found by.
type place struct {
	to        *topic
	kind      wire.PartitioningKind
	partition uint32
}

// buffer gathers requests. Its memory is used again, unless a request failed: then that belongs to who gets the messages.
type buffer struct {
	requests []*request
	newest   map[place]int // the last request for a place, but for places with a key
	spare    []*request
	sends    int
	bytes    int64 // by sizeOf
	blocks   []*[blockBytes]byte
	left     []byte // of the last block

	first, behind uint64 // of a pipeline: the first record, and the one behind the last
	pools         *memory
}

// memory are buffers and blocks that are not in use.
type memory struct{ buffers, blocks sync.Pool }

// buffer returns an empty buffer. A new one has room for some messages: where it grows bit by bit, more memory is taken than
// needed.
func (m *memory) buffer(messages int) *buffer {
	if b, ok := m.buffers.Get().(*buffer); ok {
		return b
	}
	first := &request{messages: make([]wire.Message, 0, messages)}
	return &buffer{newest: map[place]int{}, spare: []*request{first}, pools: m}
}

// free gives the memory of a buffer back, if nobody else has it.
func (b *buffer) free() {
	for _, block := range b.blocks {
		b.pools.blocks.Put(block)
	}
	for _, r := range b.requests {
		if cap(r.messages) <= keptMessages {
			clear(r.messages)
			b.spare = append(b.spare, r)
		}
	}
	clear(b.newest)
	clear(b.blocks)
	clear(b.requests)
	*b = buffer{
		requests: b.requests[:0], newest: b.newest, spare: b.spare, blocks: b.blocks[:0], pools: b.pools,
	}
	b.pools.buffers.Put(b)
}

// add copies a message into the request for its place, or into a new one if that is full. One without a time gets now, in
// microseconds.
func (b *buffer) add(to *topic, by *wire.Partitioning, m *wire.Message, now uint64) *request {
	copied := *m
	if copied.OriginTimestamp == 0 {
		copied.OriginTimestamp = now
	}
	r := b.request(to, by)
	if r == nil || !r.extent.add(&copied) {
		r = b.open(to, by)
		r.extent.add(&copied)
	}
	copied.Payload, copied.UserHeaders = b.copy(m.Payload), b.copy(m.UserHeaders)
	r.messages = append(r.messages, copied)
	r.bytes += sizeOf(m)
	b.bytes += sizeOf(m)
	return r
}

// request returns the open request for a place, if there is one. Those with a key are looked for at the end only: what has the
// same key comes together anyway, or else goes through the server.
func (b *buffer) request(to *topic, by *wire.Partitioning) *request {
	if len(b.requests) == 0 {
		return nil
	}
	if last := b.requests[len(b.requests)-1]; last.goesTo(to, by) {
		return last
	}
	if by.Kind == wire.PartitionByKey {
		return nil
	}
	if i, ok := b.newest[place{to, by.Kind, by.Partition}]; ok {
		return b.requests[i]
	}
	return nil
}

// open begins a request.
func (b *buffer) open(to *topic, by *wire.Partitioning) *request {
	var r *request
	if n := len(b.spare); n > 0 {
		r, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		r = &request{}
	}
	*r = request{to: to, by: *by, messages: r.messages[:0], rows: r.rows[:0]}
	r.by.Key = b.copy(by.Key)
	if by.Kind != wire.PartitionByKey {
		b.newest[place{to, by.Kind, by.Partition}] = len(b.requests)
	}
	b.requests = append(b.requests, r)
	return r
}

// copy returns a copy in the memory of the buffer.
func (b *buffer) copy(data []byte) []byte {
	switch {
	case len(data) == 0:
		return nil
	case len(data) >= ownBytes:
		return slices.Clone(data)
	case len(data) > len(b.left):
		block, ok := b.pools.blocks.Get().(*[blockBytes]byte)
		if !ok {
			block = new([blockBytes]byte)
		}
		b.blocks = append(b.blocks, block)
		b.left = block[:]
	}
	n := copy(b.left, data)
	copied := b.left[:n:n]
	b.left = b.left[n:]
	return copied
}
