package broker

import (
	"context"
	"slices"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// waiting is a read that may wait: until messages come, the time is over, the client cancels, or the broker closes.
type waiting struct {
	request  *request
	most     time.Duration
	woken    waiter
	at       map[*partition]bool // where it is told what happens
	cancel   <-chan struct{}     // nil until it waits for the first time
	deadline <-chan time.Time
	stop     func()
	over     bool // it does not wait any more
}

func (r *request) waiting(most time.Duration) *waiting {
	return &waiting{request: r, most: most, woken: make(waiter, 1), at: map[*partition]bool{}, over: most <= 0}
}

// watch has the read told what happens to a partition.
func (w *waiting) watch(p *partition) {
	if !w.over && !w.at[p] {
		w.at[p] = true
		p.waiters.add(w.woken)
	}
}

// end gives up what the wait has taken.
func (w *waiting) end() {
	for p := range w.at {
		p.waiters.remove(w.woken)
	}
	if w.cancel == nil {
		return
	}
	w.stop()
	b, s := w.request.broker, w.request.session
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(s.waits, w.request.header.Request)
}

// pause waits until it is worth to look again. ok is false if nobody waits for an answer any more.
func (w *waiting) pause(ctx context.Context) (code wire.Code, ok bool) {
	if w.cancel == nil {
		if code := w.begin(); code != 0 || w.over {
			return code, true
		}
	}
	select {
	case <-w.woken:
	case <-w.deadline:
		w.over = true
	case <-w.cancel:
		w.over = true
	case <-w.request.broker.closing:
		w.over = true
	case <-ctx.Done():
		return 0, false
	}
	return 0, true
}

// begin makes the wait known, so that it can be cancelled.
func (w *waiting) begin() wire.Code {
	b, s, id := w.request.broker, w.request.session, w.request.header.Request
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := slices.Index(s.early, id); at >= 0 {
		s.early = slices.Delete(s.early, at, at+1)
		w.over = true
		return 0
	}
	switch {
	case !b.alive(s):
		return wire.CodeUnauthenticated
	case s.waits[id] != nil:
		return wire.CodeInvalidCommand // the number of a request that is at work
	case len(s.waits) >= b.config.Limits.Waits:
		return wire.CodeDeferredPollCapacityExceeded
	}
	cancel := make(chan struct{})
	s.waits[id], w.cancel = cancel, cancel
	w.deadline, w.stop = b.config.Clock.After(w.most)
	return 0
}

// maxEarly is how many cancels of a session are kept that came before what they cancel: requests of a connection are
// handled side by side.
const maxEarly = 64

// cancel ends the wait of a read. It is not answered itself.
func (b *Broker) cancel(r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := r.link.session
	if s == nil || s.number != r.header.Session || s.client != r.header.Client {
		return
	}
	id := r.header.Request
	if wait, ok := s.waits[id]; ok {
		close(wait)
		delete(s.waits, id)
		return
	}
	if len(s.early) == maxEarly {
		s.early = s.early[1:]
	}
	s.early = append(s.early, id)
}
