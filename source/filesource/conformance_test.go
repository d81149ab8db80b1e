package filesource

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
	"github.com/runnel-go/runnel/source/sourcetest"
)

// twoFiles puts n lines into two files.
func twoFiles(t *testing.T, m *faultfs.Mem, n int, packing fileconn.Packing) (lines []string) {
	text, lines := numbered(0, n)
	half := 0
	if n > 1 {
		half = strings.Index(text, fmt.Sprintf("line %d\n", n/2))
	}
	for name, part := range map[string]string{"d/a": text[:half], "d/b": text[half:]} {
		if packing != fileconn.PackNone {
			cut := len(part) / 2
			part = string(pack(t, packing, part[:cut], part[cut:]))
		}
		put(t, m, name, []byte(part))
	}
	return lines
}

func TestSourcesKeepTheContract(t *testing.T) {
	t.Parallel()
	lines := func(packing fileconn.Packing, opts ...LineOption) func(*testing.T, int) sourcetest.System[string] {
		return func(t *testing.T, n int) sourcetest.System[string] {
			m := faultfs.NewMem()
			denied := faultfs.Inject(m, func(c faultfs.Call) error {
				if c.Op == faultfs.OpReadDir {
					return fs.ErrPermission
				}
				return nil
			})
			return sourcetest.System[string]{
				Values:  twoFiles(t, m, n, packing),
				Source:  func() runnel.Source[string] { return Lines("d/*", append(opts, on(m))...) },
				Missing: func() runnel.Source[string] { return Lines("d/*", append(opts, on(denied))...) },
			}
		}
	}
	follow := []LineOption{Follow(), PollInterval(time.Millisecond)}
	t.Run("plain", func(t *testing.T) { sourcetest.Run(t, lines(fileconn.PackNone), sourcetest.Features{}) })
	t.Run("gzip", func(t *testing.T) { sourcetest.Run(t, lines(fileconn.PackGzip), sourcetest.Features{}) })
	t.Run("zstd", func(t *testing.T) { sourcetest.Run(t, lines(fileconn.PackZstd), sourcetest.Features{}) })
	t.Run("followed", func(t *testing.T) {
		sourcetest.Run(t, lines(fileconn.PackNone, follow...), sourcetest.Features{Endless: true})
	})
	t.Run("followed gzip", func(t *testing.T) {
		sourcetest.Run(t, lines(fileconn.PackGzip, follow...), sourcetest.Features{Endless: true})
	})
	t.Run("csv", func(t *testing.T) {
		type row struct{ N int }
		sourcetest.Run(t, func(t *testing.T, n int) sourcetest.System[row] {
			m := faultfs.NewMem()
			text := "n\n"
			sys := sourcetest.System[row]{Source: func() runnel.Source[row] { return CSV[row]("f", on(m)) }}
			for i := range n {
				sys.Values = append(sys.Values, row{i})
				text += fmt.Sprintf("\"%d\"\n", i)
			}
			put(t, m, "f", []byte(text))
			return sys
		}, sourcetest.Features{})
	})
}
