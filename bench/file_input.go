package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// input is the large file and what is known of it.
type input struct {
	path string
	late int64 // flights that pass the filter
}

// fileInput makes the large file by repeating the flights, unless it is there from the last time.
func fileInput(s settings) (input, error) {
	text, err := loadFlights(s.source)
	if err != nil {
		return input{}, err
	}
	dir, err := cacheDir(s.cache)
	if err != nil {
		return input{}, err
	}
	copies := max(1, (s.mebi<<20)/len(text))
	late, err := countLate(text)
	if err != nil {
		return input{}, err
	}
	in := input{path: filepath.Join(dir, fmt.Sprintf("flights-%d.ndjson", s.mebi)), late: late * int64(copies)}
	if info, err := os.Stat(in.path); err == nil && info.Size() == int64(copies*len(text)) {
		return in, nil
	}
	return in, repeat(in.path, text, copies)
}

func cacheDir(dir string) (string, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(user, "runnel-bench")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

func countLate(text []byte) (late int64, err error) {
	var f flight
	for _, line := range splitLines(text) {
		if err := decodeFlight(line, &f); err != nil {
			return 0, err
		}
		if isLate(&f) {
			late++
		}
	}
	return late, nil
}

func repeat(path string, text []byte, copies int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for range copies {
		if _, err = f.Write(text); err != nil {
			break
		}
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// countRows counts the lines of a CSV file behind its header.
func countRows(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	rows := int64(-1)
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		part, err := r.ReadSlice('\n')
		if bytes.HasSuffix(part, []byte("\n")) {
			rows++
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			return 0, err
		}
	}
}
