package filesource

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
	"github.com/runnel-go/runnel/runneltest"
)

// following runs a test in which time passes only while everybody waits.
func following(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

func TestFIL14RotationLosesAndRepeatsNothing(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		polls         int // between two rotations
	}{
		{"one name", "app.log", 3}, {"one name, two rotations between looks", "app.log", 0}, {"a glob", "app.log*", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			following(t, func(t *testing.T) {
				m := memWith(t, map[string]string{"app.log": ""})
				r := open(t, Lines(c.pattern, on(m), Follow(), PollInterval(100*time.Millisecond), Grace(time.Second)), nil)
				var got, want []string
				written := 0
				write := func(f fileconn.File, n int) {
					for range n {
						want = append(want, fmt.Sprintf("line %d", written))
						_, err := fmt.Fprintf(f, "line %d\n", written)
						require.NoError(t, err)
						written++
					}
				}
				f, err := fileconn.Create(m, "app.log", 0o644)
				require.NoError(t, err)
				for round := range 20 {
					write(f, 500)
					time.Sleep(time.Millisecond)
					for i := min(round, 4); i > 0; i-- { // app.log.4 is removed
						require.NoError(t, m.Rename(fmt.Sprintf("app.log.%d", i), fmt.Sprintf("app.log.%d", i+1)))
					}
					require.NoError(t, m.Rename("app.log", "app.log.1"))
					next, err := fileconn.Create(m, "app.log", 0o644)
					require.NoError(t, err)
					if c.polls > 0 || round%2 == 1 {
						got = append(got, r.during(time.Duration(max(1, c.polls))*110*time.Millisecond)...)
					}
					write(f, 5) // a late writer
					require.NoError(t, f.Close())
					f = next
				}
				got = append(got, r.during(10*time.Second)...)
				require.NoError(t, f.Close())
				runneltest.ExactlyOnce(t, want, got)
				require.LessOrEqual(t, m.OpenFiles(), 7)
			})
		})
	}
}

func TestRotatedFileIsReadBeforeItsSuccessor(t *testing.T) {
	following(t, func(t *testing.T) {
		text, want := numbered(0, 3000)
		m := memWith(t, map[string]string{"app.log": text[:20_000]})
		var seen events
		r := open(t, Lines("app.log", on(m), Follow(), seen.option()), nil)
		got := slices.Clone(r.during(5 * time.Second))
		add(t, m, "app.log", text[20_000:])
		require.NoError(t, m.Rename("app.log", "old"))
		add(t, m, "app.log", "first of the next\n")
		got = append(got, r.during(time.Minute)...)
		require.Equal(t, append(want, "first of the next"), got)
		require.Equal(t, []EventKind{EventRotated, EventClosed}, seen.kinds())
		require.Equal(t, 1, m.OpenFiles())
	})
}

func TestRotationWhileNobodyLookedIsReadOn(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "1\n2\n"})
		r := open(t, Lines("app.log", on(m), Follow()), nil)
		require.Len(t, r.during(time.Second), 2)
		r.close()
		for round := range 3 { // 2 of them are never seen at the path
			add(t, m, "app.log", fmt.Sprintf("rest of %d\n", round))
			time.Sleep(time.Minute)
			for i := round; i > 0; i-- {
				require.NoError(t, m.Rename(fmt.Sprintf("app.log.%d", i), fmt.Sprintf("app.log.%d", i+1)))
			}
			require.NoError(t, m.Rename("app.log", "app.log.1"))
		}
		add(t, m, "app.log", "now\n")
		again := open(t, Lines("app.log", on(m), Follow()), r.pos)
		require.Equal(t, []string{"rest of 0", "rest of 1", "rest of 2", "now"}, again.during(time.Minute))
		for _, o := range again.origins {
			require.Equal(t, "app.log", o.Partition)
		}
		require.Empty(t, open(t, Lines("app.log", on(m), Follow()), again.pos).during(time.Minute))
	})
}

func TestLateWriterOfARotatedFileIsWaitedFor(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "one\n"})
		r := open(t, Lines("app.log", on(m), Follow(), Grace(10*time.Second)), nil)
		require.Len(t, r.during(time.Second), 1)
		f, err := m.OpenFile("app.log", os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		require.NoError(t, m.Rename("app.log", "app.log.1"))
		for i := range 5 {
			_, err = fmt.Fprintf(f, "late %d\n", i)
			require.NoError(t, err)
			require.Equal(t, []string{fmt.Sprintf("late %d", i)}, r.during(7*time.Second))
		}
		require.NoError(t, f.Close())
		require.Equal(t, 1, m.OpenFiles())
		require.Empty(t, r.during(10*time.Second))
		require.Zero(t, m.OpenFiles())
	})
}

func TestFileOfWhichNothingWasReadIsKnownToTheNextRun(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": ""})
		r := open(t, Lines("app.log", on(m), Follow()), nil)
		require.Empty(t, r.during(time.Second))
		r.close()
		add(t, m, "app.log", "one\n")
		require.NoError(t, m.Rename("app.log", "app.log.1"))
		add(t, m, "app.log", "two\n")
		require.Equal(t, []string{"one", "two"}, open(t, Lines("app.log", on(m), Follow()), r.pos).during(time.Second))
	})
}

func TestLastLineOfARotatedFileNeedsNoLineFeed(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "one\ntw"})
		r := open(t, Lines("app.log", on(m), Follow(), Grace(10*time.Second)), nil)
		require.Equal(t, []string{"one"}, r.during(5*time.Second))
		f, err := m.OpenFile("app.log", os.O_WRONLY|os.O_APPEND, 0) // who writes late
		require.NoError(t, err)
		require.NoError(t, m.Rename("app.log", "gone"))
		require.Empty(t, r.during(5*time.Second))
		_, err = io.WriteString(f, "o")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, []string{"two"}, r.during(20*time.Second))
		require.Zero(t, m.OpenFiles())
	})
}

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
			runneltest.ExactlyOnce(t, want, r.values) // ElementsMatch takes a minute for so many
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

func TestRotationBetweenLooksIsReadAlsoWhileItsWriterHasItOpen(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "one\n"})
		written := false
		late := faultfs.Inject(m, func(c faultfs.Call) error {
			if c.Op == faultfs.OpStat && c.Name == "app.log.1" && !written { // behind the look at the new app.log
				written = true
				time.Sleep(time.Millisecond)
				add(t, m, "app.log.1", "late\n")
			}
			return nil
		})
		r := open(t, Lines("app.log", on(late), Follow()), nil)
		require.Equal(t, []string{"one"}, r.during(time.Second))
		require.NoError(t, m.Rename("app.log", "app.log.0"))
		add(t, m, "app.log", "two\n")
		require.NoError(t, m.Rename("app.log", "app.log.1"))
		add(t, m, "app.log", "three\n")
		require.Equal(t, []string{"two", "late", "three"}, r.during(time.Minute))

		add(t, m, "app.log.2", "of somebody else\n")
		require.Empty(t, r.during(time.Minute))
	})
}

func TestFileWrittenLongAfterTheNewLogIsNoRotationOfIt(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "one\n"})
		r := open(t, Lines("app.log", on(m), Follow(), Grace(time.Second)), nil)
		require.Equal(t, []string{"one"}, r.during(time.Second))
		require.NoError(t, r.reader.Close(t.Context()))
		require.NoError(t, m.Rename("app.log", "app.log.0"))
		add(t, m, "app.log", "two\n")
		time.Sleep(time.Minute)
		add(t, m, "app.log.9", "of somebody else\n")
		again := open(t, Lines("app.log", on(m), Follow(), Grace(time.Second)), r.pos)
		require.Equal(t, []string{"two"}, again.during(time.Minute))
	})
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
