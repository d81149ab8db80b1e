package filesink

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// discard is a file system that forgets what is written, to measure what is not its work.
type discard struct{}

func (discard) OpenFile(name string, _ int, _ fs.FileMode) (fileconn.File, error) {
	return &discarded{name: name}, nil
}
func (discard) Stat(string) (fs.FileInfo, error)      { return nil, fs.ErrNotExist }
func (discard) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }
func (discard) MkdirAll(string, fs.FileMode) error    { return nil }
func (discard) Rename(string, string) error           { return nil }
func (discard) Remove(string) error                   { return nil }
func (discard) Truncate(string, int64) error          { return nil }
func (discard) SyncDir(string) error                  { return nil }

type discarded struct{ name string }

func (*discarded) Read([]byte) (int, error)          { return 0, io.EOF }
func (*discarded) ReadAt([]byte, int64) (int, error) { return 0, nil }
func (*discarded) Write(p []byte) (int, error)       { return len(p), nil }
func (*discarded) Seek(int64, int) (int64, error)    { return 0, nil }
func (*discarded) Close() error                      { return nil }
func (d *discarded) Name() string                    { return d.name }
func (d *discarded) Stat() (fs.FileInfo, error)      { return info{}, nil }
func (*discarded) Sync() error                       { return nil }
func (*discarded) Truncate(int64) error              { return nil }

type info struct{}

func (info) Name() string       { return "" }
func (info) Size() int64        { return 0 }
func (info) Mode() fs.FileMode  { return 0 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

type flight struct {
	Date     string `json:"date" csv:"date"`
	Origin   string `json:"origin" csv:"origin"`
	Dest     string `json:"destination" csv:"destination"`
	Delay    int    `json:"delay" csv:"delay"`
	Distance int    `json:"distance" csv:"distance"`
	Carrier  string `json:"carrier" csv:"carrier"`
}

func flights() []flight {
	all := make([]flight, 1024)
	for i := range all {
		all[i] = flight{"2001-01-14 06:55", "SFO", "JFK", i % 200, 300 + i, "United Airlines, Inc"}
	}
	return all
}

// BenchmarkWrite measures encoding and writing, with and without the file system.
func BenchmarkWrite(b *testing.B) {
	row := make([]string, 6)
	fields := func(f flight) []string {
		row[0], row[1], row[2], row[5] = f.Date, f.Origin, f.Dest, f.Carrier
		row[3], row[4] = strconv.Itoa(f.Delay), strconv.Itoa(f.Distance)
		return row
	}
	columns := []string{"date", "origin", "destination", "delay", "distance", "carrier"}
	values := flights()
	for _, disk := range []bool{false, true} {
		for _, ext := range []string{"", ".gz", ".zst"} {
			path, where := "o"+ext, "memory"
			fsys := fileconn.FS(discard{})
			if disk {
				path, where, fsys = filepath.Join(b.TempDir(), path), "disk", fileconn.OS{}
			}
			for name, s := range map[string]*Sink[flight]{
				"NDJSON": NDJSON[flight](path, on(fsys), Replace()),
				"CSV":    CSV(path, columns, fields, on(fsys), Replace()),
				"CSVOf":  CSVOf[flight](path, on(fsys), Replace()),
			} {
				b.Run(fmt.Sprintf("%s%s/%s", name, ext, where), func(b *testing.B) { benchmark(b, s, values) })
			}
		}
	}
	for _, disk := range []bool{false, true} {
		path, where, fsys := "o", "memory", fileconn.FS(discard{})
		if disk {
			path, where, fsys = filepath.Join(b.TempDir(), path), "disk", fileconn.OS{}
		}
		lines := make([]string, 1024)
		for i := range lines {
			lines[i] = "a line of text that is neither very short nor very long, as lines of logs are; number " + strconv.Itoa(i)
		}
		b.Run("Lines/"+where, func(b *testing.B) { benchmark(b, Lines(path, on(fsys), Replace()), lines) })
	}
}

func benchmark[T any](b *testing.B, s *Sink[T], values []T) {
	w, err := s.Open(context.Background(), runnel.SinkEnv{})
	require.NoError(b, err)
	in := batch(values...)
	var size int
	for row := range values {
		text, err := s.encode(nil, &in, row)
		require.NoError(b, err)
		size += len(text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	written := 0
	for b.Loop() {
		if err := w.Write(context.Background(), in); err != nil {
			b.Fatal(err)
		}
		if written += size; written > 1<<30 { // a disk has an end
			require.NoError(b, w.(*writer[T]).to.part().body.Cut(0))
			written = 0
		}
	}
	require.NoError(b, w.Close(context.Background()))
}

// BenchmarkStandardCSV is encoding/csv with the rows of BenchmarkWrite.
func BenchmarkStandardCSV(b *testing.B) {
	w := csv.NewWriter(io.Discard)
	values := flights()
	row := make([]string, 6)
	var size int64
	for _, f := range values {
		size += int64(len(asStandard(b, []string{f.Date, f.Origin, f.Dest, strconv.Itoa(f.Delay), strconv.Itoa(f.Distance), f.Carrier}, ',', false)))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range values {
			row[0], row[1], row[2], row[5] = f.Date, f.Origin, f.Dest, f.Carrier
			row[3], row[4] = strconv.Itoa(f.Delay), strconv.Itoa(f.Distance)
			if err := w.Write(row); err != nil {
				b.Fatal(err)
			}
		}
	}
}
