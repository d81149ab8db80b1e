package runneltest

import (
	"fmt"
	"strings"
	"testing"
)

// ExactlyOnce fails the test unless got has every value of want as often as want has it, in any order, and no other.
func ExactlyOnce[T comparable](tb testing.TB, want, got []T) {
	tb.Helper()
	missing, extra := difference(want, got)
	if len(missing)+len(extra) > 0 {
		tb.Fatalf("runneltest: of %d values %d are missing (%s) and %d are too many (%s)",
			len(want), len(missing), some(missing), len(extra), some(extra))
	}
}

// AtLeastOnce fails the test unless got has every value of want at least as often as want has it, and no other.
func AtLeastOnce[T comparable](tb testing.TB, want, got []T) {
	tb.Helper()
	missing, extra := difference(want, got)
	known := make(map[T]bool, len(want))
	for _, v := range want {
		known[v] = true
	}
	var foreign []T
	for _, v := range extra {
		if !known[v] {
			foreign = append(foreign, v)
		}
	}
	if len(missing)+len(foreign) > 0 {
		tb.Fatalf("runneltest: of %d values %d are missing (%s) and %d were never sent (%s)",
			len(want), len(missing), some(missing), len(foreign), some(foreign))
	}
}

// difference returns what got lacks, in order, and what it has too many of, from the end.
func difference[T comparable](want, got []T) (missing, extra []T) {
	count := make(map[T]int, len(want))
	for _, v := range got {
		count[v]++
	}
	for _, v := range want {
		if count[v]--; count[v] < 0 {
			missing = append(missing, v)
		}
	}
	for i := len(got) - 1; i >= 0; i-- { // of a repeated value, the later ones are too many
		if v := got[i]; count[v] > 0 {
			count[v]--
			extra = append(extra, v)
		}
	}
	return missing, extra
}

// some shows the first of many values.
func some[T any](values []T) string {
	const most = 5
	var b strings.Builder
	for i, v := range values {
		if i == most {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %v", v)
	}
	return strings.TrimSpace(b.String())
}
