package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/runnel-go/runnel/checkpoint"
)

// A run takes the lease, finds where the run before came to, and saves how far it came itself.
func ExampleDir() {
	folder, err := os.MkdirTemp("", "state")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)

	ctx := context.Background()
	for range 2 {
		log, err := checkpoint.Dir(folder).Open(ctx, "flights")
		if err != nil {
			panic(err)
		}
		var next int64
		last, err := log.Load(ctx, 0)
		switch {
		case errors.Is(err, checkpoint.ErrNotFound):
			last = &checkpoint.Checkpoint{Pipeline: "flights"}
		case err != nil:
			panic(err)
		default:
			next, _, err = checkpoint.ParseOffset(last.Sources["file"]["flights.csv"])
			if err != nil {
				panic(err)
			}
		}
		fmt.Println("reads on at", next)
		err = log.Save(ctx, &checkpoint.Checkpoint{
			Pipeline: "flights",
			Number:   last.Number + 1,
			Sources:  map[string]checkpoint.Position{"file": {"flights.csv": checkpoint.OffsetToken(next+1000, nil)}},
		})
		if err := errors.Join(err, log.Close()); err != nil {
			panic(err)
		}
	}
	// Output:
	// reads on at 0
	// reads on at 1000
}

// What a newest checkpoint that cannot be read says of itself, and how to go on from the one before.
func ExampleDamagedError() {
	folder, err := os.MkdirTemp("", "state")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)

	ctx := context.Background()
	log, err := checkpoint.Dir(folder).Open(ctx, "flights")
	if err != nil {
		panic(err)
	}
	defer log.Close()
	for n := range checkpoint.Number(2) {
		if err := log.Save(ctx, &checkpoint.Checkpoint{Pipeline: "flights", Number: n + 1}); err != nil {
			panic(err)
		}
	}
	if err := os.Truncate(folder+"/00000000000000000002.checkpoint", 40); err != nil {
		panic(err)
	}

	_, err = log.Load(ctx, 0)
	var damaged *checkpoint.DamagedError
	if errors.As(err, &damaged) {
		fmt.Printf("%d: %v; %d can be read\n", damaged.Number, damaged.Err, damaged.Intact)
		err = log.Rewind(ctx, damaged.Intact)
	}
	if err != nil {
		panic(err)
	}
	last, err := log.Load(ctx, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println("goes on from", last.Number)
	// Output:
	// 2: file is truncated; 1 can be read
	// goes on from 1
}

func ExampleNewCadence() {
	cadence, err := checkpoint.NewCadence(checkpoint.EveryRecords(10_000))
	fmt.Println(cadence.Interval, cadence.Records, cadence.MaxOpen, err)
	_, err = checkpoint.NewCadence(checkpoint.Every(0), checkpoint.MaxOpen(0))
	fmt.Println(err)
	// Output:
	// 5s 10000 4 <nil>
	// checkpoint: Every(0s): the interval must be above 0
	// checkpoint: MaxOpen(0): must be at least 1
}

func ExampleOffsetToken() {
	token := checkpoint.OffsetToken(1042, []byte("epoch 7"))
	next, guard, err := checkpoint.ParseOffset(token)
	fmt.Println(next, string(guard), err)
	// Output: 1042 epoch 7 <nil>
}
