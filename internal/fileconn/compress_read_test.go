package fileconn_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
)

func pack(t *testing.T, p fileconn.Packing, text string) []byte {
	t.Helper()
	packed, err := fileconn.Pack([]byte(text), p, 0)
	require.NoError(t, err)
	return packed
}

func TestUnpackerReadsToTheEndOfWhatIsThere(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("some text that packs well\n", 10_000)
	for _, p := range []fileconn.Packing{fileconn.PackGzip, fileconn.PackZstd} {
		one, two := pack(t, p, long), pack(t, p, "second")
		tail := map[fileconn.Packing]string{fileconn.PackGzip: "second", fileconn.PackZstd: ""}[p] // zstd checks a block first
		zeros := make([]byte, 512)
		join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
		for _, c := range []struct {
			name string
			data []byte
			want string
			err  error
		}{
			{"one member", one, long, nil},
			{"two members", join(one, two), long + "second", nil},
			{"an empty member", join(one, pack(t, p, ""), two), long + "second", nil},
			{"garbage", join(two, []byte("garbage")), "second", fileconn.ErrGarbage},
			{"cut in the header", one[:3], "", io.ErrUnexpectedEOF},
			{"cut in the second header", join(two, one[:3]), "second", io.ErrUnexpectedEOF},
			{"cut at the end", join(one, two[:len(two)-1]), long + tail, io.ErrUnexpectedEOF},
			{"zeros", join(one, zeros), long, map[bool]error{false: nil, true: fileconn.ErrGarbage}[p == fileconn.PackZstd]},
			{"zeros and garbage", join(two, zeros, []byte("x")), "second", fileconn.ErrGarbage},
		} {
			t.Run(string(p)+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, p, fileconn.DetectPacking(append(c.data[:min(3, len(c.data)):3], one[3])))
				u, err := fileconn.NewUnpacker(p, bytes.NewReader(c.data), fileconn.Member{})
				require.NoError(t, err)
				defer u.Close()
				got, err := io.ReadAll(u)
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.want, string(got))
			})
		}
	}
}

func TestGzipCanBeReadFromAMemberOn(t *testing.T) {
	t.Parallel()
	data := pack(t, fileconn.PackGzip, "first ")
	second := fileconn.Member{Packed: int64(len(data)), Plain: 6}
	data = append(data, pack(t, fileconn.PackGzip, "second")...)

	u, err := fileconn.NewUnpacker(fileconn.PackGzip, bytes.NewReader(data), fileconn.Member{})
	require.NoError(t, err)
	buf := make([]byte, 100)
	n, err := u.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "first ", string(buf[:n]))
	require.Zero(t, u.Member())
	n, err = u.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "second", string(buf[:n]))
	require.Equal(t, second, u.Member())

	u, err = fileconn.NewUnpacker(fileconn.PackGzip, bytes.NewReader(data[second.Packed:]), second)
	require.NoError(t, err)
	n, err = u.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "second", string(buf[:n]))
	require.Equal(t, second, u.Member())
}

func TestDamageOfAnArchiveIsAnError(t *testing.T) {
	t.Parallel()
	data := pack(t, fileconn.PackGzip, "checked")
	data[len(data)-5] ^= 1
	u, err := fileconn.NewUnpacker(fileconn.PackGzip, bytes.NewReader(data), fileconn.Member{})
	require.NoError(t, err)
	got, err := io.ReadAll(u)
	require.ErrorIs(t, err, gzip.ErrChecksum)
	require.Equal(t, "checked", string(got))
}
