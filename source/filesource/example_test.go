package filesource_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source/filesource"
)

// write makes a file in a new folder, which is gone after the example.
func write(name string, lines ...string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "filesource")
	if err != nil {
		panic(err)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		panic(err)
	}
	return path, func() { _ = os.RemoveAll(dir) }
}

// show prints what a stream has, and runs the pipeline.
func show[T any](p *runnel.Pipeline, s runnel.Stream[T]) {
	s.To(sink.Func(func(_ context.Context, v T) error {
		_, err := fmt.Printf("%+v\n", v)
		return err
	}))
	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

func ExampleLines() {
	path, remove := write("words.txt", "to be", "or not", "to be")
	defer remove()

	p := runnel.New("words")
	lines := runnel.From(p, filesource.Lines(path))
	show(p, flow.Map(lines, strings.ToUpper))
	// Output:
	// TO BE
	// OR NOT
	// TO BE
}

func ExampleNDJSON() {
	path, remove := write("sales.ndjson", `{"city":"Oslo","cents":250}`, `{"city":`, `{"city":"Rome","cents":1999}`)
	defer remove()
	type sale struct {
		City  string `json:"city"`
		Cents int    `json:"cents"`
	}

	p := runnel.New("sales")
	show(p, runnel.From(p, filesource.NDJSON[sale](path), runnel.Skip()))
	// Output:
	// {City:Oslo Cents:250}
	// {City:Rome Cents:1999}
}

func ExampleCSV() {
	path, remove := write("flights.csv", "flight,departed,gate,delay", `LH 1,2024-03-01 09:30:00,"A1, A2",15`, "LH 2,2024-03-01 10:00:00,B7,")
	defer remove()
	type flight struct {
		Flight   string
		Departed time.Time
		Delay    *int `csv:"delay"`
	}

	p := runnel.New("flights")
	flights := runnel.From(p, filesource.CSV[flight](path))
	show(p, flow.Map(flights, func(f flight) string {
		delay := "unknown"
		if f.Delay != nil {
			delay = strconv.Itoa(*f.Delay)
		}
		return f.Flight + " at " + f.Departed.Format(time.Kitchen) + ", delay " + delay
	}))
	// Output:
	// LH 1 at 9:30AM, delay 15
	// LH 2 at 10:00AM, delay unknown
}

func ExampleCSVRows() {
	path, remove := write("table.csv", "a;b", `1;"2;3"`)
	defer remove()

	p := runnel.New("table")
	show(p, runnel.From(p, filesource.CSVRows(path, filesource.Comma(';'), filesource.SkipHeader())))
	// Output:
	// [1 2;3]
}

func ExampleDecode() {
	path, remove := write("numbers.txt", "7", "seven", "8")
	defer remove()

	p := runnel.New("numbers")
	numbers := runnel.From(p, filesource.Decode(path, func(line []byte) (int, error) { return strconv.Atoi(string(line)) }),
		runnel.Skip())
	show(p, numbers)
	// Output:
	// 7
	// 8
}

func ExampleFollow() {
	path, remove := write("app.log", "started")
	defer remove()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	p := runnel.New("tail")
	lines := runnel.From(p, filesource.Lines(path, filesource.Follow()))
	lines.To(sink.Func(func(_ context.Context, line string) error {
		fmt.Println(line)
		if line == "stopped" {
			stop()
			return nil
		}
		log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer log.Close()
		_, err = fmt.Fprintln(log, "stopped")
		return err
	}))
	fmt.Println(p.Run(ctx))
	// Output:
	// started
	// stopped
	// <nil>
}
