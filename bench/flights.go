package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

// flight is a record of json and file.
type flight struct {
	ID          int    `json:"id"`
	Date        string `json:"date"`
	Delay       int    `json:"delay"`
	Distance    int    `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

// isLate is the user's function of file.
//
//go:noinline
func isLate(f *flight) bool { return f.Delay > 15 }

var userLate = isLate

// loadFlights returns the lines of a gzipped file, or lines of the same shape if there is no such file.
func loadFlights(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "bench: no %s: lines of the same shape are made\n", path)
		return makeFlights(100_000), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// makeFlights returns n lines, the same at each call.
func makeFlights(n int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	airports := make([]string, 250)
	for i := range airports {
		airports[i] = string([]byte{byte('A' + i%26), byte('A' + i/26), byte('A' + r.IntN(26))})
	}
	start := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	var text []byte
	for i := range n {
		at := start.Add(time.Duration(i/10) * time.Minute)
		text = fmt.Appendf(text, `{"id":%d,"date":"%s","delay":%d,"distance":%d,"origin":"%s","destination":"%s"}`+"\n",
			i+1, at.Format("2006-01-02T15:04:05"), int(r.ExpFloat64()*20)-15, 100+r.IntN(2400), airports[r.IntN(250)], airports[r.IntN(250)])
	}
	return text
}

func splitLines(text []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}
