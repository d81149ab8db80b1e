package filesource

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// TestFIL14WriterThatRotatesAtFullSpeed runs a writer beside the source on the machine's file system.
func TestFIL14WriterThatRotatesAtFullSpeed(t *testing.T) {
	t.Parallel()
	const rotations, lines = 20, 2000
	for name, opts := range map[string][]LineOption{
		"notification": nil,
		"polling":      {PollOnly()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "app.log")
			add(t, fileconn.OS{}, path, "")
			opts = append(opts, Follow(), PollInterval(2*time.Millisecond), Grace(time.Minute))
			r := open(t, Lines(path, opts...), nil)
			written := make(chan error, 1)
			go func() { written <- writeAndRotate(path, rotations, lines) }()
			for len(r.values) < rotations*lines {
				require.NoError(t, r.next(t.Context()))
			}
			require.NoError(t, <-written)
			_, want := numbered(0, rotations*lines)
			require.Equal(t, len(want), len(r.values))
			require.ElementsMatch(t, want, r.values)
		})
	}
}

// writeAndRotate writes lines to a file that it renames and makes anew; the first lines behind a rotation still go to
// the old file.
func writeAndRotate(path string, rotations, lines int) error {
	n := 0
	write := func(f *os.File, count int) (err error) {
		for i := 0; i < count && err == nil; i++ {
			_, err = fmt.Fprintf(f, "line %d\n", n)
			n++
		}
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	for i := 0; i < rotations && err == nil; i++ {
		late := 10
		if err = write(f, lines-late); err != nil {
			break
		}
		if err = os.Rename(path, fmt.Sprintf("%s.%d", path, i)); err != nil {
			break
		}
		var next *os.File
		if next, err = os.Create(path); err != nil {
			break
		}
		if err = write(f, late); err == nil {
			err = f.Close()
		}
		f = next
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func TestRotationSuffixes(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]bool{
		".1": true, ".12.gz": true, "-20240301": true, ".2024-03-01T10:00:00Z.zst": true, "_2": true, ".old": true,
		".old.gz": true, ".tmp": false, ".bak": false, "~": false, "2": false, ".": false, ".gz": false, ".1.tmp": false, ".json": false,
	} {
		require.Equal(t, want, rotationSuffix(suffix), suffix)
	}
}

func TestFileBesideAReplacedOneIsNotTakenForARotation(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"data.csv": "a\n"})
		r := open(t, Lines("data.csv", on(m), Follow()), nil)
		require.Equal(t, []string{"a"}, r.during(time.Second))
		add(t, m, "data.csv.tmp1", "left by a writer that failed\n")
		time.Sleep(time.Second)
		add(t, m, "data.csv.tmp2", "b\n")
		require.NoError(t, m.Rename("data.csv.tmp2", "data.csv"))
		require.Equal(t, []string{"b"}, r.during(time.Minute))
	})
}

func TestReadThatIsStoppedWhileItUnpacksGoesOnLater(t *testing.T) {
	t.Parallel()
	text, want := numbered(0, 200_000)
	m := faultfs.NewMem()
	put(t, m, "f", pack(t, fileconn.PackZstd, text))
	r := open(t, Lines("f", on(m)), nil)
	for len(r.values) < 190_000 {
		require.NoError(t, r.next(context.Background()))
	}
	reads := 0
	ctx, cancel := context.WithCancel(context.Background())
	counting := faultfs.Inject(m, func(c faultfs.Call) error {
		if reads++; reads == 4 {
			cancel()
		}
		return nil
	})
	again := open(t, Lines("f", on(counting)), r.pos)
	require.ErrorIs(t, again.next(ctx), context.Canceled)
	require.NoError(t, again.all())
	require.Equal(t, want[len(r.values):], again.values)
}

func TestEventsNameTheFile(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "one\n"})
		var seen events
		r := open(t, Lines("app.log", on(m), Follow(), seen.option(), Grace(time.Second)), nil)
		require.Len(t, r.during(time.Second), 1)
		require.NoError(t, m.Remove("app.log"))
		require.Empty(t, r.during(10*time.Second))
		require.Equal(t, events{{EventRotated, "app.log", 4, 4}, {EventClosed, "app.log", 4, 4}}, seen)
	})
}
