// Command flights reads US flights as NDJSON, keeps those that were late, adds the name of the airport, and writes
// them as CSV. Lines that are no flights go to a dead-letter file beside the output. With -state it survives kill -9 at
// any moment: started again, it goes on where it was, and the output has every late flight once.
//
//	go run ./examples/pipelines/flights                                     its own sample, into a new folder
//	go run ./examples/pipelines/flights -in flights.ndjson.gz -out late.csv -state state
//
// It ends with a summary such as
//
//	read          5,002 lines
//	late          1,115 in late.csv
//	on time       3,885
//	rejected          2 in late.rejects.ndjson
//	committed     5,002, nothing given up; checkpoints: 1
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink/filesink"
	"github.com/runnel-go/runnel/source/filesource"
)

// flight is a line of the input.
type flight struct {
	ID          int    `json:"id"`
	Date        string `json:"date"`
	Delay       int    `json:"delay"` // minutes; negative if early
	Distance    int    `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

// lateFlight is a row of the output.
type lateFlight struct {
	flight
	Airport string // name of the origin; empty if it is unknown
}

var header = []string{"id", "date", "origin", "airport", "destination", "distance", "delay"}

func (f lateFlight) row() []string {
	return []string{
		strconv.Itoa(f.ID), f.Date, f.Origin, f.Airport, f.Destination, strconv.Itoa(f.Distance), strconv.Itoa(f.Delay),
	}
}

type settings struct {
	in, out, state string
	late           int
	every          time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.in, "in", "", "flights as NDJSON, plain or packed with gzip or zstd (default: a sample of its own)")
	flag.StringVar(&s.out, "out", "", "CSV to write; one from before is replaced, unless -state goes on with it (default: in a new folder)")
	flag.StringVar(&s.state, "state", "", "folder for checkpoints, to go on after a crash (default: remember nothing)")
	flag.IntVar(&s.late, "late", 15, "keep flights that were more than so many `minutes` late")
	flag.DurationVar(&s.every, "every", 500*time.Millisecond, "time between checkpoints")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "flights:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if err := s.complete(); err != nil {
		return err
	}
	var checkpoints atomic.Int64
	p := build(s, runnel.OnCheckpoint(func(checkpoint.Checkpoint) { checkpoints.Add(1) }))
	done := watch(p, s.in)
	err := p.Run(ctx)
	done()
	if err != nil {
		return err
	}
	summary(os.Stdout, p, s, checkpoints.Load())
	return nil
}

// build makes the pipeline.
func build(s settings, opts ...runnel.Option) *runnel.Pipeline {
	store := checkpoint.Memory()
	if s.state != "" {
		store = checkpoint.Dir(s.state)
	}
	opts = append(opts, runnel.Checkpoint(store, checkpoint.Every(s.every)))
	rejects := filesink.NDJSON[runnel.Failed](s.rejects(), filesink.Replace())
	late := filesink.CSV(s.out, header, lateFlight.row, filesink.Replace())
	names := airportNames()

	p := runnel.New("flights", opts...)
	flights := runnel.From(p, filesource.NDJSON[flight](s.in), runnel.Name("flights"), runnel.DeadLetter(rejects))
	delayed := flow.Filter(flights, func(f flight) bool { return f.Delay > s.late }, runnel.Name("late"))
	named := flow.Map(delayed, func(f flight) lateFlight { return lateFlight{f, names[f.Origin]} })
	named.To(late, runnel.Name("csv"))
	return p
}
