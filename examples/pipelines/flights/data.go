package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/runnel-go/runnel/examples/internal/flightdata"
)

//go:embed airports.csv
var airports []byte

// complete fills in what was not set: the sample as input, an output in a new folder.
func (s *settings) complete() error {
	folder := ""
	if s.in == "" || s.out == "" {
		var err error
		if folder, err = os.MkdirTemp("", "flights-"); err != nil {
			return err
		}
	}
	if s.out == "" {
		s.out = filepath.Join(folder, "late.csv")
		fmt.Fprintln(os.Stderr, "writing", s.out)
	}
	if s.in != "" {
		return nil
	}
	s.in = filepath.Join(folder, "sample.ndjson.gz")
	if s.state != "" {
		// A position is bound to its file, so the sample stays where the next start finds it.
		s.in = filepath.Clean(s.state) + ".sample.ndjson.gz"
		if there, err := os.ReadFile(s.in); err == nil && bytes.Equal(there, flightdata.Sample) {
			return nil
		}
	}
	return os.WriteFile(s.in, flightdata.Sample, 0o644)
}

// rejects returns where bad lines go.
func (s settings) rejects() string {
	return strings.TrimSuffix(s.out, filepath.Ext(s.out)) + ".rejects.ndjson"
}

// airportNames returns the names of airports by IATA code.
func airportNames() map[string]string {
	rows, err := csv.NewReader(bytes.NewReader(airports)).ReadAll()
	if err != nil {
		panic(err) // the file is part of the program
	}
	names := make(map[string]string, len(rows))
	for _, row := range rows[1:] {
		names[row[0]] = row[1]
	}
	return names
}
