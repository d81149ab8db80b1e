package runneltest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// CheckGoroutines fails the test if, when it ends, a goroutine is still there that the test has started, itself or by
// what it called: goroutines are told apart by a profiler label that they inherit, so tests may run in parallel.
// Goroutines of subtests and of cleanups registered later count too. Call it first in a test, from its goroutine.
func CheckGoroutines(tb testing.TB) {
	label := fmt.Sprintf("%s %p", tb.Name(), tb)
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("runneltest", label)))
	tb.Cleanup(func() {
		pprof.SetGoroutineLabels(context.Background()) // leaves the goroutine of the test itself out
		var left []string
		for deadline := time.Now().Add(patience / 10); ; {
			if left = labeled(label); len(left) == 0 {
				return
			}
			if time.Now().After(deadline) {
				break
			}
			time.Sleep(time.Millisecond) // a goroutine that is ending needs a moment
		}
		tb.Errorf("runneltest: goroutines are left behind:\n%s", strings.Join(left, "\n\n"))
	})
}

// labeled returns the stacks of the goroutines with a label.
func labeled(label string) []string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return []string{err.Error()}
	}
	var stacks []string
	want := fmt.Sprintf("%q:%q", "runneltest", label)
	for _, stack := range strings.Split(profile.String(), "\n\n") {
		if strings.Contains(stack, want) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
