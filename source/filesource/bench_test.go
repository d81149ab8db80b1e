package filesource

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
)

type flight struct {
	ID          int    `json:"id" csv:"id"`
	Date        string `json:"date" csv:"date"`
	Delay       int    `json:"delay" csv:"delay"`
	Distance    int    `json:"distance" csv:"distance"`
	Origin      string `json:"origin" csv:"origin"`
	Destination string `json:"destination" csv:"destination"`
}

func sampleFlight(i int) flight {
	date := time.Date(2001, 1, 1, 0, i, 0, 0, time.UTC).Format("2006-01-02T15:04:05")
	return flight{i, date, i%90 - 20, 100 + i*37%2400, "LAS", "PHL"}
}

// sample makes a file of n flights, as JSON lines and as CSV.
func sample(b *testing.B, n int) (ndjson, table string) {
	b.Helper()
	var lines, rows bytes.Buffer
	rows.WriteString("id,date,delay,distance,origin,destination\n")
	for i := range n {
		f := sampleFlight(i)
		text, err := json.Marshal(f)
		require.NoError(b, err)
		lines.Write(append(text, '\n'))
		fmt.Fprintf(&rows, "%d,%s,%d,%d,%s,%s\n", f.ID, f.Date, f.Delay, f.Distance, f.Origin, f.Destination)
	}
	ndjson, table = filepath.Join(b.TempDir(), "flights.ndjson"), filepath.Join(b.TempDir(), "flights.csv")
	put(b, fileconn.OS{}, ndjson, lines.Bytes())
	put(b, fileconn.OS{}, table, rows.Bytes())
	return ndjson, table
}

// drain reads a source to its end and returns the number of records.
func drain[T any](b *testing.B, s *Source[T]) (n int) {
	b.Helper()
	r, err := s.Open(context.Background(), runnel.SourceEnv{Name: "files"}, nil)
	require.NoError(b, err)
	for {
		fetch, err := r.Read(context.Background())
		n += fetch.Len()
		if err != nil {
			require.ErrorIs(b, err, io.EOF)
			require.NoError(b, r.Close(context.Background()))
			return n
		}
	}
}

const benchRecords = 500_000

// measure runs f, which returns the number of records, over a file.
func measure(b *testing.B, name, path string, f func() int) {
	b.Run(name, func(b *testing.B) {
		info, err := os.Stat(path)
		require.NoError(b, err)
		b.SetBytes(info.Size())
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n += f()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
	})
}

func BenchmarkLines(b *testing.B) {
	ndjson, _ := sample(b, benchRecords)
	measure(b, "runnel", ndjson, func() int { return drain(b, Lines(ndjson)) })
	measure(b, "bufio.Scanner", ndjson, func() (n int) {
		f, err := os.Open(ndjson)
		require.NoError(b, err)
		defer f.Close()
		scanner := bufio.NewScanner(f)
		lines := make([]string, 0, 1024)
		for scanner.Scan() {
			if len(lines) == cap(lines) {
				lines = make([]string, 0, 1024)
			}
			lines = append(lines, scanner.Text())
			n++
		}
		return n
	})
}

func BenchmarkNDJSON(b *testing.B) {
	ndjson, _ := sample(b, benchRecords)
	measure(b, "runnel", ndjson, func() int { return drain(b, NDJSON[flight](ndjson)) })
}

func BenchmarkCSV(b *testing.B) {
	_, table := sample(b, benchRecords)
	measure(b, "runnel/rows", table, func() int { return drain(b, CSVRows(table)) })
	measure(b, "runnel/struct", table, func() int { return drain(b, CSV[flight](table)) })
	measure(b, "encoding-csv/rows", table, func() (n int) {
		f, err := os.Open(table)
		require.NoError(b, err)
		defer f.Close()
		for r := csv.NewReader(f); ; n++ {
			if _, err := r.Read(); errors.Is(err, io.EOF) {
				return n
			}
		}
	})
}

func BenchmarkGzip(b *testing.B) {
	ndjson, _ := sample(b, benchRecords)
	plain, err := os.ReadFile(ndjson)
	require.NoError(b, err)
	for _, p := range []fileconn.Packing{fileconn.PackGzip, fileconn.PackZstd} {
		packed := ndjson + "." + string(p)
		put(b, fileconn.OS{}, packed, pack(b, p, string(plain)))
		measure(b, string(p), ndjson, func() int { return drain(b, Lines(packed)) })
	}
	measure(b, "gzip and bufio.Scanner", ndjson, func() (n int) {
		f, err := os.Open(ndjson + ".gzip")
		require.NoError(b, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(b, err)
		scanner := bufio.NewScanner(z)
		for scanner.Scan() {
			_ = scanner.Text()
			n++
		}
		return n
	})
}
