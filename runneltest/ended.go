package runneltest

import (
	"reflect"
	"sync"
	"testing"
)

// failures are the errors that runs of [Start] ended with, by the test that they belong to. It is the one state that the
// package shares: what waits knows its test and nothing of the pipelines, so only the test connects them. A test is
// forgotten at its end.
var failures = newFailureBook()

type failureBook struct {
	mu    sync.Mutex // taken before the lock of a guard
	tests map[testing.TB]*testRuns
}

// testRuns is what is known of one test.
type testRuns struct {
	users   int // runs and waits, which keep this here
	errs    []error
	waiting map[*waiter]bool
}

// waiter is told of a run that ended with an error.
type waiter struct{ tell func(error) }

func newFailureBook() *failureBook { return &failureBook{tests: map[testing.TB]*testRuns{}} }

// enter returns what is known of a test, and what gives it back; nil if the test cannot be told from others.
func (b *failureBook) enter(tb testing.TB) (*testRuns, func()) {
	if !reflect.ValueOf(tb).Comparable() {
		return nil, func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tests[tb]
	if t == nil {
		t = &testRuns{waiting: map[*waiter]bool{}}
		b.tests[tb] = t
	}
	t.users++
	return t, func() { b.leave(tb, t) }
}

func (b *failureBook) leave(tb testing.TB, t *testRuns) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(b.tests, tb)
	}
}

// add notes how a run of a test ended.
func (b *failureBook) add(t *testRuns, err error) {
	if t == nil || err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t.errs = append(t.errs, err)
	for w := range t.waiting {
		w.tell(err)
	}
}

// watch calls tell with the error of each run of a test that fails from now on, until stop is called. It returns the
// errors of those that failed before. The caller holds no lock.
func (b *failureBook) watch(tb testing.TB, tell func(error)) (before []error, stop func()) {
	t, leave := b.enter(tb)
	if t == nil {
		return nil, leave
	}
	w := &waiter{tell}
	b.mu.Lock()
	defer b.mu.Unlock()
	t.waiting[w] = true
	return t.errs[:len(t.errs):len(t.errs)], func() {
		b.mu.Lock()
		delete(t.waiting, w)
		b.mu.Unlock()
		leave()
	}
}
