package broker

import (
	"context"
	"hash/maphash"

	"github.com/runnel-go/runnel/transport/wire"
)

// ledger remembers the writes of a session, so that a repeat gets the reply of the first and has no effect. (Iggy binary
// protocol, request numbering and retries.) It is guarded by the broker's mu.
type ledger struct {
	writes map[uint64]*write
	order  []uint64 // numbers of those that are committed, the oldest first
	bytes  int      // of their replies
	bare   int      // how many of the oldest have lost their reply
	floor  uint64   // the highest number that was forgotten
}

// write is a write that is at work or committed.
type write struct {
	print uint64        // of the request: what has another is another request
	done  chan struct{} // closed when it is not at work any more
	reply []byte        // nil while it is at work, and when it was too much to keep
}

// begin looks up a write. With fresh it is to be carried out now, and then ended with commit or drop.
func (l *ledger) begin(id uint64, print uint64) (w *write, fresh bool, code wire.Code) {
	if w, ok := l.writes[id]; ok {
		if w.print != print {
			return nil, false, wire.CodeInvalidCommand
		}
		return w, false, 0
	}
	if id <= l.floor {
		return nil, false, wire.CodeRequestTooOld
	}
	if l.writes == nil {
		l.writes = map[uint64]*write{}
	}
	w = &write{print: print, done: make(chan struct{})}
	l.writes[id] = w
	return w, true, 0
}

// drop forgets a write that had no effect: a repeat is carried out.
func (l *ledger) drop(id uint64) {
	close(l.writes[id].done)
	delete(l.writes, id)
}

// commit keeps the reply to a write, and forgets old ones: replies first.
func (l *ledger) commit(id uint64, reply []byte, limits *Limits) {
	w := l.writes[id]
	close(w.done)
	l.order = append(l.order, id)
	w.reply = reply
	l.bytes += len(reply)
	for l.bytes > limits.KeptReplyBytes {
		old := l.writes[l.order[l.bare]]
		l.bytes -= len(old.reply)
		old.reply = nil
		l.bare++
	}
	for len(l.order) > limits.KeptReplies {
		oldest := l.order[0]
		l.bytes -= len(l.writes[oldest].reply)
		l.floor = max(l.floor, oldest)
		delete(l.writes, oldest)
		l.order = l.order[1:]
		l.bare = max(0, l.bare-1)
	}
}

// once carries out a write of a session if it is not a repeat of one that is remembered.
func once(do handler) handler {
	return func(ctx context.Context, r *request) outcome {
		b, s, id := r.broker, r.session, r.header.Request
		print := maphash.Bytes(b.seed, r.frame[sharedHeader:])
		for {
			b.mu.Lock()
			w, fresh, code := s.ledger.begin(id, print)
			b.mu.Unlock()
			switch {
			case code != 0:
				return refused(code)
			case fresh:
				return r.first(ctx, do)
			}
			select {
			case <-w.done:
			case <-ctx.Done():
				return outcome{abandoned: true}
			}
			if o, ok := r.again(w); ok {
				return o
			}
		}
	}
}

// sharedHeader is the size of what all headers begin with: nothing in it says what a request is.
const sharedHeader = 128

// first carries out a write and keeps its reply.
func (r *request) first(ctx context.Context, do handler) outcome {
	o := do(ctx, r)
	var reply []byte
	if o.op != 0 {
		reply = r.reply(o)
	}
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if o.op == 0 {
		r.session.ledger.drop(r.header.Request)
		return o
	}
	r.session.ledger.commit(r.header.Request, reply, &b.config.Limits)
	o.repeat = reply
	return o
}

// again returns the outcome of a write that was at work; ok is false if it had no effect, and is to be tried anew.
func (r *request) again(w *write) (o outcome, ok bool) {
	l := &r.session.ledger
	r.broker.mu.Lock()
	defer r.broker.mu.Unlock()
	switch {
	case w.reply != nil:
		return outcome{repeat: w.reply}, true
	case l.writes[r.header.Request] == w:
		return refused(wire.CodeRequestAlreadyApplied), true
	}
	return outcome{}, false
}
