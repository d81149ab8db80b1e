package runneltest_test

import (
	"fmt"
	"runtime"
	"testing"
)

// fakeTB is a test that may fail.
type fakeTB struct {
	testing.TB
	cleanups []func()
	failed   []string
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Name() string      { return "fake" }
func (f *fakeTB) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }

func (f *fakeTB) Errorf(format string, args ...any) {
	f.failed = append(f.failed, fmt.Sprintf(format, args...))
}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

func (f *fakeTB) Fatal(args ...any) {
	f.failed = append(f.failed, fmt.Sprint(args...))
	runtime.Goexit()
}

// runFake runs a test that may fail and returns what it reports.
func runFake(test func(tb testing.TB)) []string {
	f := &fakeTB{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(f.cleanups) - 1; i >= 0; i-- {
				f.cleanups[i]()
			}
		}()
		test(f)
	}()
	<-done
	return f.failed
}

// exampleTB is the test of an example, which has no *testing.T: a failure is a panic.
type exampleTB struct{ fakeTB }

func (e *exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *exampleTB) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }

// testOfExample returns the test of an example, and what ends it.
func testOfExample() (t testing.TB, end func()) {
	e := &exampleTB{}
	return e, func() {
		for i := len(e.cleanups) - 1; i >= 0; i-- {
			e.cleanups[i]()
		}
	}
}
