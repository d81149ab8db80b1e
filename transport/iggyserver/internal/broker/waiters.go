package broker

import "sync"

// waiters are the reads that wait for something to happen to a partition. The zero value has none.
type waiters struct {
	mu  sync.Mutex
	all map[waiter]bool
}

// waiter is told that something happened: it has room for one signal, and more would say no more.
type waiter chan struct{}

func (w *waiters) add(one waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[waiter]bool{}
	}
	w.all[one] = true
}

func (w *waiters) remove(one waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, one)
}

// wake tells all of them to look again.
func (w *waiters) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		select {
		case one <- struct{}{}:
		default:
		}
	}
}
