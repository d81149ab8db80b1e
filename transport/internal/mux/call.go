package mux

import (
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/transport"
)

// outgoing is a frame on its way to the link. Its writer takes it or its caller withdraws it, whoever comes first: this
// is what tells a request that surely was not sent from one that perhaps was.
type outgoing struct {
	frame   transport.Frame
	decided atomic.Bool
	written chan struct{} // closed behind the last byte; nil if nobody waits for that
	writing sync.Mutex    // held while the frame is read by its writer
}

// unused waits until the writer is done with the frame. It is, or nearly so, when the reply has come.
func (o *outgoing) unused() {
	o.writing.Lock()
	o.writing.Unlock() //nolint:staticcheck // to wait is all
}

// begin says whether the frame is to be written.
func (o *outgoing) begin() bool { return o.decided.CompareAndSwap(false, true) }

// withdraw says whether the frame has not been written and never will be.
func (o *outgoing) withdraw() bool { return o.decided.CompareAndSwap(false, true) }

// call is a request under way.
type call struct {
	id    uint64
	reply chan transport.Frame // room for one, so that the reader never waits
	left  bool                 // by its caller, while the reply may still come; guarded by table.mu
}

func newCall(id uint64) *call { return &call{id: id, reply: make(chan transport.Frame, 1)} }

// table holds the requests under way by their numbers.
type table struct {
	mu      sync.Mutex
	waiting map[uint64]*call // guarded by mu
}

// add says whether the number was free.
func (t *table) add(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[c.id] != nil {
		return false
	}
	t.waiting[c.id] = c
	return true
}

// leave forgets a call whose caller waits no more, and says whether its number is free. The number 0 is not while its
// reply may come, which would be taken for the reply to the next request with this number.
func (t *table) leave(c *call, unsent bool) (free bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[c.id] != c {
		return false // the reply came just now, and freed it
	}
	if c.id == 0 && !unsent {
		c.left = true
		return false
	}
	delete(t.waiting, c.id)
	return true
}

// answer hands a reply to the call with its number and returns the call, or nil if there is none.
func (t *table) answer(reply transport.Frame) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.waiting[reply.RequestID()]
	if c == nil {
		return nil
	}
	delete(t.waiting, c.id)
	if !c.left {
		c.reply <- reply
	}
	return c
}
