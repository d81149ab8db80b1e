package filesource

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// events collects what a source reports.
type events []Event

func (e *events) option() Option { return OnEvent(func(event Event) { *e = append(*e, event) }) }

func (e *events) kinds() (kinds []EventKind) {
	for _, event := range *e {
		kinds = append(kinds, event.Kind)
	}
	return kinds
}

func TestFollowWaitsForTheEndOfALine(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "one\ntw"})
		r := open(t, Lines("app.log", on(m), Follow()), nil)
		require.Equal(t, []string{"one"}, r.during(5*time.Second))
		add(t, m, "app.log", "o\r")
		require.Empty(t, r.during(5*time.Second))
		add(t, m, "app.log", "\nthree\n")
		require.Equal(t, []string{"two", "three"}, r.during(5*time.Second))
		require.EqualValues(t, 4, r.origins[1].Offset)

		again := open(t, Lines("app.log", on(m), Follow()), r.behind[0])
		require.Equal(t, []string{"two", "three"}, again.during(time.Second))
	})
}

func TestFollowReadsFilesThatComeLater(t *testing.T) {
	following(t, func(t *testing.T) {
		m := faultfs.NewMem()
		r := open(t, Lines("logs/*.log", on(m), Follow()), nil)
		require.Empty(t, r.during(5*time.Second))
		add(t, m, "logs/a.log", "a\n")
		require.Equal(t, []string{"a"}, r.during(5*time.Second))
		add(t, m, "logs/b.log", "b\n")
		add(t, m, "logs/a.log", "a2\n")
		require.ElementsMatch(t, []string{"b", "a2"}, r.during(5*time.Second))
		require.Len(t, r.pos, 2)
	})
}

func TestFollowReadsOldRotationsInTheOrderTheyWereWritten(t *testing.T) {
	following(t, func(t *testing.T) {
		m := faultfs.NewMem()
		for _, name := range []string{"app.log.2", "app.log.1", "app.log"} {
			add(t, m, name, name+"\n")
			time.Sleep(time.Minute)
		}
		r := open(t, Lines("app.log*", on(m), Follow()), nil)
		require.Equal(t, []string{"app.log.2", "app.log.1", "app.log"}, r.during(time.Second))
	})
}

func TestFIL03CompressedRotationIsNotReadAgain(t *testing.T) {
	text, want := numbered(0, 1000)
	for _, delayed := range []bool{false, true} {
		t.Run(fmt.Sprint("delayed=", delayed), func(t *testing.T) {
			following(t, func(t *testing.T) {
				m := memWith(t, map[string]string{"app.log": text[:8000]})
				source := Lines("app.log*", on(m), Follow())
				r := open(t, source, nil)
				got := slices.Clone(r.during(5 * time.Second))
				add(t, m, "app.log", text[8000:]) // not read when the log is rotated
				require.NoError(t, m.Rename("app.log", "app.log.1"))
				if delayed {
					got = append(got, r.during(time.Minute)...)
				}
				packed := pack(t, fileconn.PackGzip, text)
				put(t, m, "app.log.1.gz", packed[:len(packed)/2]) // being written
				if delayed {
					got = append(got, r.during(2*time.Second)...)
				}
				put(t, m, "app.log.1.gz", packed)
				require.NoError(t, m.Remove("app.log.1"))
				add(t, m, "app.log", "next\n")
				got = append(got, r.during(time.Minute)...)
				require.ElementsMatch(t, append(slices.Clone(want), "next"), got)

				r.close()
				require.NoError(t, m.Rename("app.log.1.gz", "app.log.2.gz"))
				add(t, m, "app.log", "after\n")
				require.Equal(t, []string{"after"}, open(t, source, r.pos).during(time.Minute))
			})
		})
	}
}

func TestFIL03CompressedRotationIsReadOnAfterARestart(t *testing.T) {
	text, want := numbered(0, 1000)
	for _, pattern := range []string{"app.log", "app.log*"} {
		t.Run(pattern, func(t *testing.T) {
			following(t, func(t *testing.T) {
				m := memWith(t, map[string]string{"app.log": text[:8000]})
				source := Lines(pattern, on(m), Follow())
				r := open(t, source, nil)
				got := slices.Clone(r.during(5 * time.Second))
				r.close()
				time.Sleep(time.Second)
				put(t, m, "app.log.1.gz", pack(t, fileconn.PackGzip, text))
				require.NoError(t, m.Remove("app.log"))
				add(t, m, "app.log", "next\n")
				got = append(got, open(t, source, r.pos).during(time.Minute)...)
				require.ElementsMatch(t, append(slices.Clone(want), "next"), got)
			})
		})
	}
}

func TestFIL04TruncatedFileIsReadFromItsStart(t *testing.T) {
	old := strings.Repeat("123456789\n", 90)
	for _, c := range []struct{ name, fresh string }{
		{"shorter", strings.Repeat("fresh 789\n", 4)},
		{"longer between two looks", strings.Repeat("fresh 789\n", 100)},
		{"the same length", strings.Repeat("fresh 789\n", 90)},
		{"the same but for the last line", old[:890] + "different\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			following(t, func(t *testing.T) {
				m := memWith(t, map[string]string{"app.log": old})
				var seen events
				r := open(t, Lines("app.log", on(m), Follow(), seen.option()), nil)
				require.Len(t, r.during(5*time.Second), 90)
				require.NoError(t, m.Truncate("app.log", 0))
				add(t, m, "app.log", c.fresh)
				want := strings.Split(strings.TrimSuffix(c.fresh, "\n"), "\n")
				require.Equal(t, want, r.during(5*time.Second))
				require.Equal(t, events{{EventTruncated, "app.log", 900, int64(len(c.fresh))}}, seen)

				require.Empty(t, open(t, Lines("app.log", on(m), Follow()), r.pos).during(5*time.Second))
			})
		})
	}
}

func TestTruncationWhileNobodyLookedIsNoticed(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": strings.Repeat("old\n", 100)})
		r := readAll(t, Lines("app.log", on(m)), nil)
		put(t, m, "app.log", []byte(strings.Repeat("new\n", 101)))
		var seen events
		again := readAll(t, Lines("app.log", on(m), seen.option()), r.pos)
		require.Len(t, again.values, 101)
		require.Equal(t, []EventKind{EventTruncated}, seen.kinds())
	})
}

func TestCopyThatWasMadeBeforeTruncationIsReadOn(t *testing.T) {
	text, want := numbered(0, 1000)
	for _, pattern := range []string{"app.log", "app.log*"} {
		t.Run(pattern, func(t *testing.T) {
			following(t, func(t *testing.T) {
				m := memWith(t, map[string]string{"app.log": text[:5000]})
				r := open(t, Lines(pattern, on(m), Follow()), nil)
				got := slices.Clone(r.during(5 * time.Second))
				add(t, m, "app.log", text[5000:]) // in the copy alone when the source looks again
				put(t, m, "app.log.1", []byte(text))
				require.NoError(t, m.Truncate("app.log", 0))
				add(t, m, "app.log", "next\n")
				got = append(got, r.during(time.Minute)...)
				require.ElementsMatch(t, append(slices.Clone(want), "next"), got)
			})
		})
	}
}

func TestFileThatOnlyLooksLikeACopyIsRead(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "same\nstart\n"})
		r := open(t, Lines("app.log*", on(m), Follow()), nil)
		require.Len(t, r.during(5*time.Second), 2)
		put(t, m, "app.log.bak", []byte("same\nstart\n"))
		require.Empty(t, r.during(4*time.Second), "the log may be cut soon")
		require.Equal(t, []string{"same", "start"}, r.during(10*time.Second))
	})
}

func TestFIL13PaddingThatIsOverwrittenIsReadAnew(t *testing.T) {
	for _, stop := range []bool{false, true} {
		t.Run(fmt.Sprint("stop=", stop), func(t *testing.T) {
			following(t, func(t *testing.T) {
				opts := []LineOption{Follow()}
				if stop {
					opts = append(opts, StopAtNUL())
				}
				m := memWith(t, map[string]string{"app.log": "a\nb\n" + strings.Repeat("\x00", 4096)})
				r := open(t, Lines("app.log", append(opts, on(m))...), nil)
				require.Equal(t, []string{"a", "b"}, r.during(5*time.Second))
				put(t, m, "app.log", []byte("a\nb\nc\n"+strings.Repeat("\x00", 4094)))
				require.Equal(t, []string{"c"}, r.during(5*time.Second))
				require.EqualValues(t, 4, r.origins[2].Offset)
				require.Empty(t, r.failed)
			})
		})
	}
}

func TestFIL15FileRewrittenAgainAndAgainIsReadEachTime(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"status": ""})
		r := open(t, Lines("status", on(m), Follow(), PollInterval(50*time.Millisecond)), nil)
		var got, want []string
		for i := range 20 {
			want = append(want, fmt.Sprintf("line %d", i))
			put(t, m, "status", []byte(want[i]+"\n"))
			got = append(got, r.during(80*time.Millisecond)...)
		}
		require.Equal(t, want, got)
		require.LessOrEqual(t, len(r.pos["status"]), 1000, "former contents are forgotten")
	})
}

// TestFIL15 on the machine's file system, with notification and with polling.
func TestFIL15WorksWithNotificationAndWithPolling(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]LineOption{
		"notification": {Follow(), PollInterval(time.Hour)},
		"polling":      {Follow(), PollOnly(), PollInterval(time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "status")
			r := open(t, Lines(path, opts...), nil)
			for i := range 20 {
				put(t, fileconn.OS{}, path, fmt.Appendf(nil, "line %d\n", i))
				for len(r.values) == i {
					require.NoError(t, r.next(t.Context()))
				}
				require.Equal(t, fmt.Sprintf("line %d", i), r.values[i])
			}
		})
	}
}

func TestFollowOfTheMachinesFilesSeesRotation(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]LineOption{
		"notification": {Follow(), PollInterval(time.Hour), Grace(0)},
		"polling":      {Follow(), PollOnly(), PollInterval(time.Millisecond), Grace(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "app.log")
			add(t, fileconn.OS{}, path, "0\n")
			r := open(t, Lines(path, opts...), nil)
			for i := range 5 {
				for len(r.values) <= 2*i {
					require.NoError(t, r.next(t.Context()))
				}
				add(t, fileconn.OS{}, path, "end\n")
				require.NoError(t, fileconn.OS{}.Rename(path, fmt.Sprintf("%s.%d", path, i)))
				add(t, fileconn.OS{}, path, fmt.Sprintf("%d\n", i+1))
			}
			for len(r.values) < 11 {
				require.NoError(t, r.next(t.Context()))
			}
			require.Equal(t, []string{"0", "end", "1", "end", "2", "end", "3", "end", "4", "end", "5"}, r.values)
		})
	}
}

func TestFIL16SecondTailOfAFileSeesItsLines(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	base := runtime.NumGoroutine()
	for i, path := range []string{a, b, a} {
		add(t, fileconn.OS{}, path, "before\n")
		r, err := Lines(path, Follow(), PollInterval(time.Hour)).Open(t.Context(), runnel.SourceEnv{Name: "files"}, nil)
		require.NoError(t, err)
		tail := &run[string]{t: t, reader: r, pos: map[string][]byte{}}
		for len(tail.values) == 0 {
			require.NoError(t, tail.next(t.Context()))
		}
		add(t, fileconn.OS{}, path, fmt.Sprintf("live %d\n", i))
		for tail.values[len(tail.values)-1] != fmt.Sprintf("live %d", i) {
			require.NoError(t, tail.next(t.Context()))
		}
		require.NoError(t, r.Close(context.Background()))
		require.NoError(t, r.Close(context.Background()), "twice")
		for runtime.NumGoroutine() > base {
			runtime.Gosched() // the library's goroutine ends behind Close
		}
	}
}

func TestFIL17FilesThatAreGoneHoldNothing(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"d/keep": "keep\n"})
		r := open(t, Lines("d/*", on(m), Follow(), ForgetAfter(time.Hour), MaxOpenFiles(50)), nil)
		var got []string
		most := 0
		for i := range 1000 {
			path := fmt.Sprintf("d/%d", i)
			add(t, m, path, path+"\n")
			if i%10 == 9 {
				got = append(got, r.during(1100*time.Millisecond)...)
				for j := i - 9; j <= i; j++ {
					require.NoError(t, m.Remove(fmt.Sprintf("d/%d", j)))
				}
			}
			most = max(most, m.OpenFiles())
		}
		got = append(got, r.during(time.Minute)...)
		require.Len(t, got, 1001)
		require.LessOrEqual(t, most, 51)
		require.LessOrEqual(t, m.OpenFiles(), 1)
		require.Len(t, r.pos, 1001)
		require.Empty(t, r.during(2*time.Hour))
		require.Len(t, r.pos, 1, "positions of gone files are dropped")
		require.Len(t, r.reader.(runnel.Lagger).Lag(), 1)
	})
}

func TestFIL17GoroutinesAndHandlesDoNotGrow(t *testing.T) {
	base := runtime.NumGoroutine() // no test runs beside this one
	dir := t.TempDir()
	r := open(t, Lines(filepath.Join(dir, "*"), Follow(), PollInterval(time.Hour), Grace(0), MaxOpenFiles(20)), nil)
	for i := range 1000 {
		path := filepath.Join(dir, strconv.Itoa(i))
		add(t, fileconn.OS{}, path, path+"\n")
		for len(r.values) == i {
			require.NoError(t, r.next(t.Context()))
		}
		require.NoError(t, os.Remove(path))
		require.LessOrEqual(t, runtime.NumGoroutine(), base+1, "that of the notification")
		require.LessOrEqual(t, r.reader.(*reader[string]).feed.open, 21)
	}
}

func TestManyFilesAreReadWithFewHandles(t *testing.T) {
	following(t, func(t *testing.T) {
		m := faultfs.NewMem()
		for i := range 100 {
			add(t, m, fmt.Sprintf("d/%d", i), "first\n")
		}
		r := open(t, Lines("d", on(m), Follow(), MaxOpenFiles(5)), nil)
		require.Len(t, r.during(5*time.Second), 100)
		require.LessOrEqual(t, m.OpenFiles(), 5)
		for i := range 100 {
			add(t, m, fmt.Sprintf("d/%d", i), "second\n")
		}
		require.Len(t, r.during(5*time.Second), 100)
		require.LessOrEqual(t, m.OpenFiles(), 5)
		require.NoError(t, m.Rename("d/7", "d/x"))
		add(t, m, "d/x", "third\n")
		require.Equal(t, []string{"third"}, r.during(5*time.Second))
	})
}

func TestFileThatIsGoneBeforeItWasReadIsReported(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"d/a": "a\n", "d/b": "b\n"})
		var seen events
		r := open(t, Lines("d", on(m), Follow(), MaxOpenFiles(1), seen.option()), nil)
		require.NoError(t, m.Remove("d/b"))
		require.Equal(t, []string{"a"}, r.during(5*time.Second))
		require.Equal(t, events{{EventLost, "d/b", 0, 2}}, seen)
	})
}

func TestBusyFileDoesNotStarveOthers(t *testing.T) {
	following(t, func(t *testing.T) {
		line := strings.Repeat("busy", 32) + "\n"
		lines := 3 * turnBytes / len(line)
		m := memWith(t, map[string]string{"d/a": strings.Repeat(line, lines), "d/b": "b\n"})
		r := open(t, Lines("d", on(m), Follow()), nil)
		before := 0
		for r.values = nil; !slices.Contains(r.values, "b"); before += len(r.values) {
			r.values = r.values[:0]
			require.NoError(t, r.next(t.Context()))
		}
		require.Greater(t, r.reader.(runnel.Lagger).Lag()["d/a"], int64(turnBytes))
		require.Equal(t, lines+1, before+len(r.during(time.Second)))
	})
}

func TestArchiveThatIsBeingWrittenIsWaitedFor(t *testing.T) {
	text, want := numbered(0, 50_000)
	packed := pack(t, fileconn.PackGzip, text)
	following(t, func(t *testing.T) {
		m := faultfs.NewMem()
		put(t, m, "d/a.gz", packed[:len(packed)/3])
		r := open(t, Lines("d", on(m), Follow(), Grace(10*time.Second)), nil)
		got := slices.Clone(r.during(5 * time.Second))
		put(t, m, "d/a.gz", packed[:len(packed)/2])
		got = append(got, r.during(9*time.Second)...)
		put(t, m, "d/a.gz", packed)
		got = append(got, r.during(20*time.Second)...)
		require.Equal(t, want, got)

		put(t, m, "d/b.gz", packed[:len(packed)/3])
		for {
			if err := r.next(t.Context()); err != nil {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				require.ErrorContains(t, err, "d/b.gz")
				break
			}
		}
	})
}

func TestOverlongLineThatGrowsIsReportedAtItsEnd(t *testing.T) {
	following(t, func(t *testing.T) {
		m := memWith(t, map[string]string{"app.log": "a\n" + strings.Repeat("x", 3*blockBytes)})
		r := open(t, Lines("app.log", on(m), Follow(), MaxLineBytes(1000)), nil)
		require.Equal(t, []string{"a"}, r.during(5*time.Second))
		add(t, m, "app.log", strings.Repeat("y", blockBytes))
		require.Empty(t, r.during(5*time.Second))
		require.Empty(t, r.failed)
		add(t, m, "app.log", "\nb\n")
		require.Equal(t, []string{"b"}, r.during(5*time.Second))
		_, at := causes(r.failed)
		require.Equal(t, []RecordError{{"app.log", 2, 2, 4 * blockBytes, nil}}, at)
		require.Empty(t, open(t, Lines("app.log", on(m), Follow()), r.pos).during(time.Second))
	})
}

func TestFollowedCSVHasAHeaderInEachFile(t *testing.T) {
	following(t, func(t *testing.T) {
		type row struct{ ID string }
		m := memWith(t, map[string]string{"d/a.csv": "i"})
		r := open(t, CSV[row]("d/*.csv", on(m), Follow()), nil)
		require.Empty(t, r.during(5*time.Second))
		add(t, m, "d/a.csv", "d,x\n1,2\n\"3\n")
		add(t, m, "d/b.csv", "x,id\n4,5\n")
		require.ElementsMatch(t, []row{{"1"}, {"5"}}, r.during(5*time.Second))
		add(t, m, "d/a.csv", "\",4\n")
		add(t, m, "d/b.csv", "6,7\n")
		require.ElementsMatch(t, []row{{"3\n"}, {"7"}}, r.during(5*time.Second))
		require.Empty(t, r.failed)
	})
}

func TestCloseWakesARead(t *testing.T) {
	following(t, func(t *testing.T) {
		m := faultfs.NewMem()
		r := open(t, Lines("none", on(m), Follow()), nil)
		done := make(chan error)
		go func() {
			_, err := r.reader.Read(context.Background())
			done <- err
		}()
		synctest.Wait()
		r.close()
		require.ErrorIs(t, <-done, runnel.ErrClosed)
		require.NotErrorIs(t, r.next(context.Background()), io.EOF)
	})
}
