package filesink_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink/filesink"
	"github.com/runnel-go/runnel/source"
)

type sale struct {
	City  string `json:"city" csv:"city"`
	Cents int    `json:"cents" csv:"cents"`
}

func sales() runnel.Source[sale] {
	return source.Slice([]sale{{"Oslo", 250}, {"Rome", 1999}, {"Paris, TX", 5}})
}

// folder returns a folder that is gone after the example.
func folder() (name string, remove func()) {
	name, err := os.MkdirTemp("", "filesink")
	if err != nil {
		panic(err)
	}
	return name, func() { _ = os.RemoveAll(name) }
}

// show prints the files of a folder.
func show(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		fmt.Printf("%s:\n%s", filepath.Base(name), text)
		if err != nil {
			fmt.Println(err)
		}
	}
}

func ExampleNDJSON() {
	dir, remove := folder()
	defer remove()

	p := runnel.New("sales")
	runnel.From(p, sales()).To(filesink.NDJSON[sale](filepath.Join(dir, "sales.ndjson")))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// sales.ndjson:
	// {"city":"Oslo","cents":250}
	// {"city":"Rome","cents":1999}
	// {"city":"Paris, TX","cents":5}
}

func ExampleCSV() {
	dir, remove := folder()
	defer remove()

	row := func(s sale) []string { return []string{s.City, strconv.FormatFloat(float64(s.Cents)/100, 'f', 2, 64)} }
	p := runnel.New("sales")
	runnel.From(p, sales()).To(filesink.CSV(filepath.Join(dir, "sales.csv"), []string{"city", "euros"}, row))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// sales.csv:
	// city,euros
	// Oslo,2.50
	// Rome,19.99
	// "Paris, TX",0.05
}

func ExampleCSVOf() {
	dir, remove := folder()
	defer remove()

	p := runnel.New("sales")
	runnel.From(p, sales()).To(filesink.CSVOf[sale](filepath.Join(dir, "sales.csv"), filesink.Comma(';')))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// sales.csv:
	// city;cents
	// Oslo;250
	// Rome;1999
	// Paris, TX;5
}

func ExampleLines() {
	dir, remove := folder()
	defer remove()

	p := runnel.New("words")
	runnel.From(p, source.Slice([]string{"one", "two"})).To(filesink.Lines(filepath.Join(dir, "words.txt")))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// words.txt:
	// one
	// two
}

func ExampleBytes() {
	dir, remove := folder()
	defer remove()

	p := runnel.New("words")
	words := source.Slice([][]byte{[]byte("one"), []byte("two")})
	runnel.From(p, words).To(filesink.Bytes(filepath.Join(dir, "words.txt"), filesink.NoEmptyFile()))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// words.txt:
	// one
	// two
}

func ExampleEncodeRecord() {
	dir, remove := folder()
	defer remove()

	encode := func(dst []byte, r runnel.Record[sale]) ([]byte, error) {
		dst = append(dst, r.Key...)
		dst = append(dst, ' ')
		dst = r.Time.AppendFormat(dst, time.Kitchen)
		return append(dst, '\n'), nil
	}
	p := runnel.New("sales")
	runnel.From(p, source.SliceRecords([]runnel.Record[sale]{{
		Value: sale{"Oslo", 250},
		Meta:  runnel.Meta{Key: []byte("order-7"), Time: time.Date(2024, 5, 1, 9, 30, 0, 0, time.UTC)},
	}})).To(filesink.EncodeRecord(filepath.Join(dir, "index"), encode))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// index:
	// order-7 9:30AM
}

// Files are numbered, and appear when they are finished and their checkpoint is committed.
func ExampleRollRecords() {
	dir, remove := folder()
	defer remove()

	p := runnel.New("sales")
	runnel.From(p, sales()).To(filesink.NDJSON[sale](filepath.Join(dir, "sales-%03d.ndjson"), filesink.RollRecords(2)))
	fmt.Println(p.Run(context.Background()))
	show(dir)
	// Output:
	// <nil>
	// sales-001.ndjson:
	// {"city":"Oslo","cents":250}
	// {"city":"Rome","cents":1999}
	// sales-002.ndjson:
	// {"city":"Paris, TX","cents":5}
}

// A run that fails and is run again goes on from its last checkpoint: what was written after it is cut, and no record is
// there twice.
func Example_restart() {
	dir, remove := folder()
	defer remove()

	run := func(failAt int64) error {
		p := runnel.New("numbers", runnel.MaxBatch(1),
			runnel.Checkpoint(checkpoint.Dir(filepath.Join(dir, "state")), checkpoint.EveryRecords(2)))
		numbers := runnel.From(p, source.Generate(5, func(i int64) int64 { return i }))
		numbers.To(filesink.Encode(filepath.Join(dir, "numbers"), func(dst []byte, n int64) ([]byte, error) {
			if n == failAt {
				return dst, errors.New("no luck")
			}
			return append(strconv.AppendInt(dst, n, 10), '\n'), nil
		}))
		return p.Run(context.Background())
	}
	fmt.Println(run(3) != nil)
	fmt.Println(run(-1))
	text, err := os.ReadFile(filepath.Join(dir, "numbers"))
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// true
	// <nil>
	// 0
	// 1
	// 2
	// 3
	// 4
	// <nil>
}
