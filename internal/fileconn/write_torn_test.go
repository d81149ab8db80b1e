package fileconn_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
)

func TestWholeLinesEndAtTheLastLineFeed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for _, tc := range []struct {
		name, in string
		want     int
	}{
		{"nothing", "", 0},
		{"no line feed", "abc", 0},
		{"whole", "a\nb\n", 4},
		{"torn", "a\nb\nc", 4},
		{"only a line feed", "\n", 1},
		{"torn over many blocks", "a\n" + long, 2},
		{"torn behind a long line", long + "\nabc", len(long) + 1},
		{"no line feed in many blocks", long, 0},
	} {
		got, err := fileconn.WholeLines(strings.NewReader(tc.in), int64(len(tc.in)))
		require.NoError(t, err, tc.name)
		require.EqualValues(t, tc.want, got, tc.name)
	}
}

func TestWholeRowsDoNotEndWithinQuotes(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x\n", 100_000) + `"` + "\n"
	for _, tc := range []struct {
		name, in string
		want     int
	}{
		{"nothing", "", 0},
		{"whole", "a,b\n1,2\n", 8},
		{"torn", "a,b\n1,", 4},
		{"torn within quotes behind a line feed", "a,b\n1,\"x\ny", 4},
		{"quotes within quotes", "\"a\"\"\n\",b\n1", 9},
		{"quotes that are not closed", "a\n\"b\"\"\n", 2},
		{"a long quoted field", "a\n" + long + "\"torn\n", 2 + len(long)},
	} {
		got, err := fileconn.WholeRows(strings.NewReader(tc.in), int64(len(tc.in)))
		require.NoError(t, err, tc.name)
		require.EqualValues(t, tc.want, got, tc.name)
	}
}

func TestWholeMembersAreFoundInAnArchiveCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, p := range packings[1:] {
		var archive []byte
		ends := []int{0}
		for _, content := range []string{"", "one\n", strings.Repeat("abcdefg\n", 50), "\n"} {
			m, err := fileconn.Pack([]byte(content), p, 0)
			require.NoError(t, err)
			archive = append(archive, m...)
			ends = append(ends, len(archive))
		}
		for size := range len(archive) + 1 {
			want := 0
			for _, end := range ends {
				if end <= size {
					want = end
				}
			}
			got, err := fileconn.WholeMembers(bytes.NewReader(archive[:size]), int64(size), p)
			require.NoError(t, err)
			require.EqualValues(t, want, got, "%s cut at %d", p, size)
		}
		garbage := append(append([]byte{}, archive...), "garbage garbage"...)
		got, err := fileconn.WholeMembers(bytes.NewReader(garbage), int64(len(garbage)), p)
		require.NoError(t, err)
		require.EqualValues(t, len(archive), got, "%s followed by garbage", p)
	}
}

func TestWholeMembersKnowsEveryFormOfAFrame(t *testing.T) {
	t.Parallel()
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'}
	incompressible := make([]byte, 300_000)
	for i, x := 0, uint32(1); i < len(incompressible); i++ {
		x = x*1664525 + 1013904223
		incompressible[i] = byte(x >> 24)
	}
	for _, tc := range []struct {
		name    string
		content []byte
		opts    []zstd.EOption
	}{
		{"without a checksum", []byte("abc"), []zstd.EOption{zstd.WithEncoderCRC(false)}},
		{"a single segment", bytes.Repeat([]byte("abc"), 1000), []zstd.EOption{zstd.WithSingleSegment(true)}},
		{"a run of one byte", make([]byte, 1<<20), nil},
		{"raw blocks", incompressible, nil},
	} {
		w, err := zstd.NewWriter(nil, tc.opts...)
		require.NoError(t, err)
		frame := w.EncodeAll(tc.content, append([]byte{}, skippable...))
		require.NoError(t, w.Close())
		archive := append(append([]byte{}, frame...), frame[:len(frame)-1]...)
		got, err := fileconn.WholeMembers(bytes.NewReader(archive), int64(len(archive)), fileconn.PackZstd)
		require.NoError(t, err)
		require.EqualValues(t, len(frame)+len(skippable), got, "%s: the frame, and the skippable one of its torn copy", tc.name)
	}
}

func TestHasPrefixLooksIntoArchives(t *testing.T) {
	t.Parallel()
	for _, p := range packings {
		for _, tc := range []struct {
			content string
			want    bool
		}{
			{"a,b\n1,2\n", true},
			{"a,b\n", true},
			{"a,", true},
			{"", true},
			{"x,y\n1,2\n", false},
		} {
			packed, err := fileconn.Pack([]byte(tc.content), p, 0)
			require.NoError(t, err)
			got, err := fileconn.HasPrefix(bytes.NewReader(packed), int64(len(packed)), p, []byte("a,b\n"))
			require.NoError(t, err)
			require.Equal(t, tc.want, got, "%q as %q", tc.content, p)
		}
	}
	for _, p := range packings[1:] {
		got, err := fileconn.HasPrefix(strings.NewReader("plain text, long enough"), 20, p, []byte("a,b\n"))
		require.NoError(t, err)
		require.False(t, got, "no archive of %s", p)
	}
}

func TestIsPrefixIsTrueOnlyOfWhatHoldsNothingElse(t *testing.T) {
	t.Parallel()
	for _, p := range packings {
		for content, want := range map[string]bool{
			"": true, "a": true, "a,b\n": true, "b": false, "a,b\n1": false, strings.Repeat("x", 10_000): false,
		} {
			packed, err := fileconn.Pack([]byte(content), p, 0)
			require.NoError(t, err)
			got, err := fileconn.IsPrefix(bytes.NewReader(packed), int64(len(packed)), p, []byte("a,b\n"))
			require.NoError(t, err)
			require.Equal(t, want, got, "%.20q as %q", content, p)
			if p == fileconn.PackNone {
				continue
			}
			got, err = fileconn.IsPrefix(bytes.NewReader(packed), int64(len(packed)-1), p, []byte("a,b\n"))
			require.NoError(t, err)
			require.False(t, got, "%.20q as %q, torn", content, p)
		}
	}
}
