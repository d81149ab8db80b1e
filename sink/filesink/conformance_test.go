package filesink

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
	"github.com/runnel-go/runnel/sink/sinktest"
)

// TestNumberedFilesKeepTheContract of sinks. They are finished at each checkpoint, so that all of it is to be seen.
func TestNumberedFilesKeepTheContract(t *testing.T) {
	t.Parallel()
	for _, ext := range []string{"", ".gz"} {
		t.Run("lines"+ext, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(*testing.T) sinktest.System[string] {
				mem := faultfs.NewMem()
				return sinktest.System[string]{
					Sink: func() runnel.Sink[string] {
						return Lines("o-%09d"+ext, on(mem), RollEvery(1), RollRecords(100), BlockBytes(30))
					},
					Value: func(i int) string { return fmt.Sprint("value ", i) },
					Bad:   func() string { return "two\nlines" },
					Kill:  func() {}, // a file system in memory has no locks
					Read:  func(t *testing.T) []string { return linesOf(t, mem) },
				}
			}, sinktest.Features{})
		})
	}
}

// TestOneFileKeepsTheContract of sinks. It is written in place, so that its end is to be seen early.
func TestOneFileKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"o", "o.gz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(*testing.T) sinktest.System[string] {
				mem := faultfs.NewMem()
				return sinktest.System[string]{
					Sink:  func() runnel.Sink[string] { return Lines(name, on(mem), BlockBytes(30)) },
					Value: func(i int) string { return fmt.Sprint("value ", i) },
					Bad:   func() string { return "two\nlines" },
					Kill:  func() {}, // a file system in memory has no locks
					Read:  func(t *testing.T) []string { return linesOf(t, mem) },
				}
			}, sinktest.Features{VisibleAtOnce: true})
		})
	}
}

// linesOf returns the lines of all files that have a name of theirs.
func linesOf(t *testing.T, mem *faultfs.Mem) []string {
	t.Helper()
	var all []string
	for _, name := range names(t, mem) {
		if strings.HasPrefix(name, hiddenPrefix) {
			continue
		}
		for line := range strings.Lines(unpacked(t, mem, name)) {
			require.True(t, strings.HasSuffix(line, "\n"), "%s: %q is a whole line", name, line)
			all = append(all, strings.TrimSuffix(line, "\n"))
		}
	}
	return all
}
