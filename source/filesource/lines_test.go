package filesource

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestLinesTakesWhatEndsALineAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		opts          []LineOption
		want          []string
		offsets       []int64
	}{
		{"no file content", "", nil, nil, nil},
		{"one line", "a\n", nil, []string{"a"}, []int64{0}},
		{"no line feed at the end", "a\nb", nil, []string{"a", "b"}, []int64{0, 2}},
		{"empty lines are lines", "\n\na\n\n", nil, []string{"", "", "a", ""}, []int64{0, 1, 2, 4}},
		{"CR LF", "a\r\nb\r\n\r\n", nil, []string{"a", "b", ""}, []int64{0, 3, 6}},
		{"a CR that no LF follows is kept", "a\rb\nc\r", nil, []string{"a\rb", "c\r"}, []int64{0, 4}},
		{"two CR before LF", "a\r\r\n", nil, []string{"a\r"}, []int64{0}},
		{"byte order mark", "\xef\xbb\xbfa\nb\n", nil, []string{"a", "b"}, []int64{3, 5}},
		{"only a byte order mark", "\xef\xbb\xbf", nil, nil, nil},
		{"byte order mark inside", "a\n\xef\xbb\xbfb\n", nil, []string{"a", "\xef\xbb\xbfb"}, []int64{0, 2}},
		{"raw", "\xef\xbb\xbfa\r\nb\n", []LineOption{Raw()}, []string{"\xef\xbb\xbfa\r", "b"}, []int64{0, 6}},
		{"NUL among other bytes", "a\x00b\n\x00c\n", nil, []string{"a\x00b", "\x00c"}, []int64{0, 4}},
		{"bytes that are no UTF-8", "a\xffb\n", nil, []string{"a\xffb"}, []int64{0}},
		{"stop at NUL", "a\nb\x00\x00c\n", []LineOption{StopAtNUL()}, []string{"a", "b"}, []int64{0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := memWith(t, map[string]string{"f": c.content})
			r := readAll(t, Lines("f", append(c.opts, on(m))...), nil)
			require.Equal(t, c.want, r.values)
			require.Empty(t, r.failed)
			var offsets []int64
			for _, o := range r.origins {
				require.Equal(t, "files", o.Source)
				require.Equal(t, "f", o.Partition)
				offsets = append(offsets, o.Offset)
			}
			require.Equal(t, c.offsets, offsets)
			require.Zero(t, m.OpenFiles())
		})
	}
}

func TestFIL12ByteOrderMarkAndCRAreTakenAway(t *testing.T) {
	t.Parallel()
	content := "\xef\xbb\xbfone\r\ntwo\r\nth\rree\r\nfour\r\nfive\r\nlast\r"
	m := memWith(t, map[string]string{"f": content})
	r := readAll(t, Lines("f", on(m)), nil)
	require.Equal(t, []string{"one", "two", "th\rree", "four", "five", "last\r"}, r.values)
	r = readAll(t, Lines("f", on(m), Raw()), nil)
	require.Equal(t, []string{"\xef\xbb\xbfone\r", "two\r", "th\rree\r", "four\r", "five\r", "last\r"}, r.values)
}

func TestFIL05LinesUpToTheLimitCome(t *testing.T) {
	t.Parallel()
	var content []byte
	var offsets []int64
	lengths := []int{10, 65_536, 20, 65_537, 1 << 20, 0, 16 << 20, 30, 20 << 20, 40, 16<<20 + 1}
	for i, n := range lengths {
		offsets = append(offsets, int64(len(content)))
		content = append(content, bytes.Repeat([]byte{byte('a' + i)}, n)...)
		content = append(content, '\n')
	}
	m := faultfs.NewMem()
	put(t, m, "f", content)
	put(t, m, "f.zst", pack(t, fileconn.PackZstd, string(content)))
	for _, path := range []string{"f", "f.zst"} {
		r := readAll(t, Lines(path, on(m), MaxLineBytes(16<<20)), nil)
		var got []int
		for _, v := range r.values {
			got = append(got, len(v))
		}
		require.Equal(t, []int{10, 65_536, 20, 65_537, 1 << 20, 0, 16 << 20, 30, 40}, got)
		errs, at := causes(r.failed)
		require.Equal(t, []error{ErrTooLong, ErrTooLong}, errs)
		require.Equal(t, []RecordError{
			{Path: path, Line: 9, Offset: offsets[8], Length: 20 << 20},
			{Path: path, Line: 11, Offset: offsets[10], Length: 16<<20 + 1},
		}, at)
		require.Equal(t, bytes.Repeat([]byte("i"), cutBytes), r.failed[0].Value)
		require.Equal(t, offsets[9], r.origins[8].Offset, "the line behind it")
	}
}

func TestLineLimitCountsNeitherLFNorCRLF(t *testing.T) {
	t.Parallel()
	const limit, filler = 1000, 512
	for _, end := range []string{"\n", "\r\n", ""} {
		for n := limit - 2; n <= limit+2; n++ {
			for _, before := range []int{0, 1, blockBytes/filler - 2, blockBytes/filler - 1} {
				content := strings.Repeat(strings.Repeat("1", filler-1)+"\n", before) + strings.Repeat("x", n) + end
				m := memWith(t, map[string]string{"f": content})
				r := readAll(t, Lines("f", on(m), MaxLineBytes(limit)), nil)
				require.Len(t, r.failed, max(0, min(1, n-limit)), "%d before %d with %q", before, n, end)
				if len(r.failed) > 0 {
					_, at := causes(r.failed)
					require.Equal(t, RecordError{"f", int64(before) + 1, int64(before) * filler, int64(n), nil}, at[0])
				}
			}
		}
	}
}

func TestFIL06ReadErrorIsReturnedBehindTheRecordsBefore(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": strings.Repeat("0123456789abcde\n", blockBytes/16+100)})
	broken := true
	reads := 0
	fsys := faultfs.Inject(m, func(c faultfs.Call) error {
		if c.Op == faultfs.OpRead && c.Len > 1<<10 {
			if reads++; reads > 1 && broken {
				return syscall.EIO
			}
		}
		return nil
	})
	r := open(t, Lines("f", on(fsys)), nil)
	err := r.all()
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, fmt.Sprintf("filesource: f: at byte %d: ", blockBytes))
	require.Len(t, r.values, blockBytes/16)
	require.ErrorIs(t, r.all(), syscall.EIO, "it stays failed")

	broken = false
	again := readAll(t, Lines("f", on(fsys)), r.pos)
	require.Len(t, again.values, 100, "and can be taken up where it failed")
}

func TestLineThatCannotBeDecodedIsAFailedRecord(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "1\nx\n3\npanic\n5"})
	wrong := errors.New("not a number")
	r := readAll(t, Decode("f", func(line []byte) (int, error) {
		switch {
		case string(line) == "panic":
			panic("at the decoder")
		case line[0] > '9':
			return 7, wrong
		}
		return int(line[0] - '0'), nil
	}, on(m)), nil)
	require.Equal(t, []int{1, 3, 5}, r.values)
	require.Equal(t, []int64{0, 4, 12}, []int64{r.origins[0].Offset, r.origins[1].Offset, r.origins[2].Offset})
	errs, at := causes(r.failed)
	require.ErrorIs(t, errs[0], wrong)
	var caught *runnel.PanicError
	require.ErrorAs(t, errs[1], &caught)
	require.Equal(t, "at the decoder", caught.Value)
	require.Equal(t, []RecordError{{"f", 2, 2, 1, nil}, {"f", 4, 6, 5, nil}}, at)
	require.Equal(t, []byte("x"), r.failed[0].Value)
	require.Equal(t, runnel.Origin{Source: "files", Partition: "f", Offset: 2}, r.failed[0].Origin)
	require.Equal(t, "files", r.failed[0].Stage)
	require.EqualError(t, r.failed[0].Err, "filesource: line 2, 1 bytes long: not a number")
}

func TestNDJSONReadsObjectsAndPassesOverBlankLines(t *testing.T) {
	t.Parallel()
	type point struct {
		X int    `json:"x"`
		S string `json:"s"`
	}
	m := memWith(t, map[string]string{"f": "{\"x\":1,\"s\":\"a\"}\n\n  \r\n{\"x\":2,\"s\":\"b\"}\r\n{\"x\":\n{\"x\":\"3\"}\n{\"x\":4}"})
	r := readAll(t, NDJSON[point]("f", on(m)), nil)
	require.Equal(t, []point{{1, "a"}, {2, "b"}, {4, ""}}, r.values)
	_, at := causes(r.failed)
	require.Equal(t, []int64{5, 6}, []int64{at[0].Line, at[1].Line})
	for _, f := range r.failed {
		require.NotContains(t, f.Err.Error(), `"3"`)
	}
}

func TestRequireUTF8RefusesOtherBytes(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "gr\xc3\xbcn\ngr\xfcn\n"})
	r := readAll(t, Lines("f", on(m), RequireUTF8()), nil)
	require.Equal(t, []string{"grün"}, r.values)
	errs, at := causes(r.failed)
	require.Equal(t, []error{ErrUTF8}, errs)
	require.Equal(t, RecordError{"f", 2, 6, 4, nil}, at[0])
}

func TestUTF16IsRefusedUnlessRaw(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "\xff\xfea\x00\n\x00"})
	r := open(t, Lines("f", on(m)), nil)
	require.ErrorIs(t, r.all(), ErrUTF16)
	require.Equal(t, []string{"\xff\xfea\x00", "\x00"}, append(readAll(t, Lines("f", on(m), Raw()), nil).values, "\x00"))
}

func TestFIL13LineOfNULsIsAnErrorRecord(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat("\x00", 4096)
	m := memWith(t, map[string]string{"f": "a\nb\n" + padding})
	r := readAll(t, Lines("f", on(m)), nil)
	require.Equal(t, []string{"a", "b"}, r.values)
	errs, at := causes(r.failed)
	require.Equal(t, []error{ErrNUL}, errs)
	require.Equal(t, RecordError{"f", 3, 4, 4096, nil}, at[0])

	stopped := readAll(t, Lines("f", on(m), StopAtNUL()), nil)
	require.Equal(t, []string{"a", "b"}, stopped.values)
	require.Empty(t, stopped.failed)

	put(t, m, "f", []byte("a\nb\nc\n"+padding[2:]))
	stopped = readAll(t, Lines("f", on(m), StopAtNUL()), stopped.pos)
	require.Equal(t, []string{"c"}, stopped.values)
	require.EqualValues(t, 4, stopped.origins[0].Offset)
}

func TestFIL07ArchivesAreReadToWhereTheyAreSound(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	want := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	whole := pack(t, fileconn.PackGzip, text.String())
	for _, c := range []struct {
		name string
		data []byte
		err  error
	}{
		{"padding", append(bytes.Clone(whole), make([]byte, 512)...), nil},
		{"garbage", append(bytes.Clone(whole), "garbage"...), ErrGarbage},
		{"cut", whole[:len(whole)/2], io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := faultfs.NewMem()
			put(t, m, "a.gz", c.data)
			r := open(t, Lines("a.gz", on(m)), nil)
			require.ErrorIs(t, r.all(), c.err)
			if errors.Is(c.err, io.ErrUnexpectedEOF) {
				require.Greater(t, len(r.values), 20_000)
				require.Equal(t, want[:len(r.values)], r.values)
				require.EqualError(t, r.all(), fmt.Sprintf("filesource: a.gz: at byte %d of what is unpacked: the archive is cut: unexpected EOF",
					len(strings.Join(r.values, "\n"))+1))
				return
			}
			require.Equal(t, want, r.values)
		})
	}
}

func TestLastLineBeforeGarbageIsARecord(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	put(t, m, "a.gz", append(pack(t, fileconn.PackGzip, "one\ntwo"), "garbage"...))
	r := open(t, Lines("a.gz", on(m)), nil)
	require.ErrorIs(t, r.all(), ErrGarbage)
	require.Equal(t, []string{"one", "two"}, r.values)

	for _, p := range []fileconn.Packing{fileconn.PackGzip, fileconn.PackZstd} {
		data := append(pack(t, p, "one\n"), pack(t, p, "two")...)
		put(t, m, "b", data[:len(data)-3])
		r = open(t, Lines("b", on(m)), nil)
		err := r.all()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.EqualError(t, err, "filesource: b: at byte 4 of what is unpacked: the archive is cut: unexpected EOF")
		require.Equal(t, []string{"one"}, r.values, "the archive may have been cut within the last line")
	}
}

func TestPackingIsTakenFromTheContent(t *testing.T) {
	t.Parallel()
	m := faultfs.NewMem()
	put(t, m, "gzip", pack(t, fileconn.PackGzip, "one\ntw", "o\nthree"))
	put(t, m, "zstd", pack(t, fileconn.PackZstd, "one\ntw", "o\nthree"))
	put(t, m, "plain.gz", []byte("one\ntwo\nthree"))
	for _, path := range []string{"gzip", "zstd", "plain.gz"} {
		r := readAll(t, Lines(path, on(m)), nil)
		require.Equal(t, []string{"one", "two", "three"}, r.values)
		require.Equal(t, []int64{0, 4, 8}, []int64{r.origins[0].Offset, r.origins[1].Offset, r.origins[2].Offset})
	}
}

// FuzzLines compares the splitter with a simple model, whatever the size of the pieces that are read.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\r\n\n\x00\x00\nlonger than ten\nx\xff", 3, false)
	f.Add("\r\n\r\r\nlast\r", 1, true)
	f.Fuzz(func(t *testing.T, text string, step int, raw bool) {
		s := lineSplitter{limit: 10, raw: raw, utf8: true}
		var got []string
		start := 0
		for end := 0; end < len(text); {
			end = min(end+max(1, step%64), len(text))
			in := input{data: []byte(text[start:end]), final: end == len(text)}
			used := s.split(in, 1<<20)
			for _, line := range s.spans {
				got = append(got, fmt.Sprintf("%d:%q", start+line.start, text[start+line.start:start+line.end]))
			}
			for _, b := range s.bad {
				got = append(got, fmt.Sprintf("%d:%d %v", start+b.start, b.length, b.err))
			}
			start += used
		}
		require.ElementsMatch(t, modelLines(text, raw), got)
	})
}

// modelLines is what FuzzLines expects.
func modelLines(text string, raw bool) (want []string) {
	offset := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		kept := strings.TrimSuffix(line, "\n")
		if kept != line && !raw {
			kept = strings.TrimSuffix(kept, "\r")
		}
		switch {
		case line == "":
		case len(kept) > 10:
			want = append(want, fmt.Sprintf("%d:%d %v", offset, len(kept), ErrTooLong))
		case kept != "" && strings.Trim(kept, "\x00") == "":
			want = append(want, fmt.Sprintf("%d:%d %v", offset, len(kept), ErrNUL))
		case !utf8.ValidString(kept):
			want = append(want, fmt.Sprintf("%d:%d %v", offset, len(kept), ErrUTF8))
		default:
			want = append(want, fmt.Sprintf("%d:%q", offset, kept))
		}
		offset += len(line)
	}
	return want
}
