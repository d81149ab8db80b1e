package sourcetest

import (
	"testing"
	"time"
)

// RunWithin is Run with another patience.
func RunWithin[T any](t *testing.T, setup func(t *testing.T, n int) System[T], f Features, patience time.Duration) {
	(&suite[T]{setup: setup, f: f, patience: patience}).run(t)
}
