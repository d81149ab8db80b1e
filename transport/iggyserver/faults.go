package iggyserver

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// Faults makes a server do what clients have to live with, for their tests. It is safe for concurrent use.
//
// What is set for a request happens once: to the nth one of a command that comes from then on, over whichever connection,
// where the next one is the first. A method that returns a channel closes it when that has happened. Logins of both kinds
// have the command [wire.CmdLoginRegister]; those over HTTP are none, and a repeat over HTTP is another request.
type Faults struct {
	broker *broker.Broker
	next   handler

	inUse atomic.Bool   // so that a server without faults does not look for any
	moves atomic.Uint32 // how often partitions are said to have moved
	down  atomic.Bool   // new connections are closed

	mu      sync.Mutex
	pending []*fault    // guarded by mu
	streams streamFault // guarded by mu
}

// fault is what happens to one request.
type fault struct {
	command wire.Command
	left    int // requests of the command until then, with it
	do      func(ctx context.Context, c *call) (reply []byte, closing bool)
	reached func() // tells the test; more calls do nothing
}

// call is a request to which a fault happens.
type call struct {
	header wire.RequestHeader
	carry  func() (reply []byte, closing bool) // carries the request out
	fault  *fault
}

// Faults returns the switches of the server's faults, all of which are off.
func (s *Server) Faults() *Faults { return &s.faults }

// on sets a fault.
func (f *Faults) on(command wire.Command, nth int, do func(ctx context.Context, c *call) (reply []byte, closing bool)) <-chan struct{} {
	reached := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, &fault{command, nth, do, sync.OnceFunc(func() { close(reached) })})
	f.inUse.Store(true)
	return reached
}

// handle answers a request with the fault that is due.
func (f *Faults) handle(ctx context.Context, r *request) (reply []byte, closing bool) {
	if !f.inUse.Load() {
		return f.next(ctx, r)
	}
	carry := func() ([]byte, bool) {
		reply, closing := f.next(ctx, r)
		return f.moved(r.frame, reply), closing
	}
	h, _, err := wire.DecodeRequest(r.frame)
	if err != nil {
		return carry()
	}
	due := f.due(h.Carries())
	if due == nil {
		return carry()
	}
	defer due.reached()
	return due.do(ctx, &call{h, carry, due})
}

// due counts a request and returns the fault that is to happen to it, or nil.
func (f *Faults) due(command wire.Command) *fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var due *fault
	for _, p := range f.pending {
		if p.command != command {
			continue
		}
		if p.left--; p.left <= 0 && due == nil {
			due = p
		}
	}
	f.pending = slices.DeleteFunc(f.pending, func(p *fault) bool { return p == due })
	return due
}

// CloseBefore closes the connection in place of carrying out a request.
func (f *Faults) CloseBefore(command wire.Command, nth int) <-chan struct{} {
	return f.on(command, nth, func(context.Context, *call) ([]byte, bool) { return nil, true })
}

// CloseAfter carries a request out and closes the connection in place of the reply.
func (f *Faults) CloseAfter(command wire.Command, nth int) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) {
		c.carry()
		return nil, true
	})
}

// DropReply carries a request out and never answers. Over QUIC its stream ends.
func (f *Faults) DropReply(command wire.Command, nth int) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) {
		c.carry()
		return nil, false
	})
}

// HoldReply carries a request out, closes held, and answers once release is called, which may be done more than once. The
// request keeps its place among those of the connection meanwhile.
func (f *Faults) HoldReply(command wire.Command, nth int) (held <-chan struct{}, release func()) {
	released := make(chan struct{})
	held = f.on(command, nth, func(ctx context.Context, c *call) ([]byte, bool) {
		reply, closing := c.carry()
		c.fault.reached()
		select {
		case <-released:
		case <-ctx.Done():
		}
		return reply, closing
	})
	return held, sync.OnceFunc(func() { close(released) })
}

// Refuse answers a request with a code in place of carrying it out, such as [wire.CodeTransientNotAccepted], or
// [wire.CodeUnauthenticated] for a bind.
func (f *Faults) Refuse(command wire.Command, nth int, code wire.Code) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) { return refusal(&c.header, code), false })
}

// LeaveInDoubt carries a request out and answers with [wire.CodeTransientNotCommitted]. Who sends it again gets the real
// reply.
func (f *Faults) LeaveInDoubt(command wire.Command, nth int) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) {
		if reply, closing := c.carry(); closing {
			return reply, closing
		}
		return refusal(&c.header, wire.CodeTransientNotCommitted), false
	})
}

// Move answers a request with [wire.CodeNotPrimary] in place of carrying it out. The routes of all partitions have a higher
// view from then on.
func (f *Faults) Move(command wire.Command, nth int) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) {
		f.moves.Add(1)
		return refusal(&c.header, wire.CodeNotPrimary), false
	})
}

// EmptyBody carries a request out and answers with the header of the reply alone.
func (f *Faults) EmptyBody(command wire.Command, nth int) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) {
		reply, closing := c.carry()
		if len(reply) < wire.HeaderSize {
			return reply, closing
		}
		reply = slices.Clone(reply[:wire.HeaderSize]) // that of the broker may be sent again
		_ = wire.SetSize(reply)                       // cannot fail for a header
		return reply, closing
	})
}

// Evict answers a request with an eviction in place of carrying it out, and closes the connection. One for
// [wire.EvictIncompatibleProtocol] says that the server speaks 0.11.0.
func (f *Faults) Evict(command wire.Command, nth int, why wire.EvictReason) <-chan struct{} {
	return f.on(command, nth, func(_ context.Context, c *call) ([]byte, bool) {
		e := wire.Eviction{Client: c.header.Client, Reason: why}
		if why == wire.EvictIncompatibleProtocol {
			e.Newest = wire.MakeVersion(0, 11, 0)
			e.Oldest = e.Newest
		}
		return wire.AppendEviction(nil, e), true
	})
}

// refusal makes the reply that says why not. That to a login has a result section, others have a status.
func refusal(h *wire.RequestHeader, code wire.Code) []byte {
	reply := wire.NewReply(h)
	if h.Operation == wire.OpRegister {
		return wire.AppendRejection(nil, reply, code)
	}
	reply.Status = code
	frame, _ := wire.AppendReply(nil, reply, nil) // a header alone has no error
	return frame
}

// moved returns the reply with a higher view if it is a route and partitions are said to have moved.
func (f *Faults) moved(request, reply []byte) []byte {
	moves := f.moves.Load()
	h, _, err := wire.DecodeRequest(request)
	if moves == 0 || err != nil || h.Carries() != wire.CmdGetPartitionRoute {
		return reply
	}
	answer, body, err := wire.DecodeReply(reply)
	if err != nil || answer.Status != 0 {
		return reply
	}
	route, err := wire.Decode[wire.PartitionRoute](body)
	if err != nil {
		return reply
	}
	route.View += moves
	changed, err := wire.AppendReply(nil, answer, &route)
	if err != nil {
		return reply
	}
	return changed
}
