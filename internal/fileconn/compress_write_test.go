package fileconn_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

var packings = []fileconn.Packing{fileconn.PackNone, fileconn.PackGzip, fileconn.PackZstd}

// unpack returns the content of an archive, which is whole.
func unpack(t *testing.T, p fileconn.Packing, packed string) string {
	t.Helper()
	var in io.Reader = strings.NewReader(packed)
	switch p {
	case fileconn.PackGzip:
		z, err := gzip.NewReader(in)
		require.NoError(t, err)
		in = z
	case fileconn.PackZstd:
		z, err := zstd.NewReader(in)
		require.NoError(t, err)
		defer z.Close()
		in = z
	}
	b, err := io.ReadAll(in)
	require.NoError(t, err)
	return string(b)
}

func newBody(t *testing.T, f fileconn.File, p fileconn.Packing, limit int) *fileconn.Body {
	t.Helper()
	out, err := fileconn.NewOutput(f, 0)
	require.NoError(t, err)
	return fileconn.NewBody(out, fileconn.NewPacker(p, 0), limit)
}

func TestBodyIsAWholeArchiveAtTheEndOfEachMember(t *testing.T) {
	t.Parallel()
	for _, p := range packings {
		t.Run("packing "+string(p), func(t *testing.T) {
			t.Parallel()
			f, read := create(t, func(faultfs.Call) error { return nil })
			b := newBody(t, f, p, 1<<10)
			require.NoError(t, b.EndMember())
			require.Empty(t, unpack(t, p, read()), "an archive of nothing is valid")

			var want strings.Builder
			for i := range 5 {
				for j := range 300 {
					line := fmt.Sprintf("%d %d %x\n", i, j, j*j*7919)
					n, err := b.Write([]byte(line), nil)
					require.NoError(t, err)
					require.Equal(t, len(line), n)
					want.WriteString(line)
				}
				require.NoError(t, b.EndMember())
				size := b.Output().Size()
				require.EqualValues(t, len(read()), size)
				require.NoError(t, b.EndMember())
				require.Equal(t, size, b.Output().Size(), "an idle end adds nothing")
				require.Equal(t, want.String(), unpack(t, p, read()))
			}
		})
	}
}

func TestBodyKeepsWhatItTookWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	for _, p := range packings[1:] {
		t.Run("packing "+string(p), func(t *testing.T) {
			t.Parallel()
			full := true
			f, read := create(t, func(c faultfs.Call) error {
				if c.Op == faultfs.OpWrite && full {
					return &faultfs.Short{N: c.Len / 2, Err: syscall.ENOSPC}
				}
				return nil
			})
			b := newBody(t, f, p, 1<<10)
			var want bytes.Buffer
			refused := 0
			random := rand.New(rand.NewPCG(1, 2))
			for range 100 {
				line := make([]byte, 10_000)
				for i := range line {
					line[i] = byte(random.Uint32())
				}
				n, err := b.Write(line, nil)
				if err != nil {
					require.ErrorIs(t, err, syscall.ENOSPC)
					require.Zero(t, n)
					refused++
					continue
				}
				want.Write(line)
			}
			require.Positive(t, refused)
			require.Positive(t, want.Len())
			require.Error(t, b.EndMember())
			require.Error(t, b.EndMember())
			require.Empty(t, read(), "half a write is cut off")
			full = false
			require.NoError(t, b.EndMember())
			require.Equal(t, want.String(), unpack(t, p, read()))
		})
	}
}

func TestBodyForgetsTheMemberThatIsCut(t *testing.T) {
	t.Parallel()
	for _, p := range packings {
		f, read := create(t, func(faultfs.Call) error { return nil })
		b := newBody(t, f, p, 1<<10)
		write := func(s string) {
			_, err := b.Write([]byte(s), nil)
			require.NoError(t, err)
		}
		write("kept\n")
		require.NoError(t, b.EndMember())
		size := b.Output().Size()
		write("given up\n")
		require.NoError(t, b.Cut(size))
		write("again\n")
		require.NoError(t, b.EndMember())
		require.Equal(t, "kept\nagain\n", unpack(t, p, read()))
	}
}

func TestPackIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	for _, p := range packings {
		first, err := fileconn.Pack([]byte("a,b\n"), p, 0)
		require.NoError(t, err)
		second, err := fileconn.Pack([]byte("a,b\n"), p, 0)
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, "a,b\n", unpack(t, p, string(first)))
	}
	_, err := fileconn.Pack(nil, "lzma", 0)
	require.Error(t, err)
}
