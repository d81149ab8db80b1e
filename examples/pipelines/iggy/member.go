package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source/iggysource"
	"github.com/runnel-go/runnel/transport/wire"
)

const (
	pace            = 500 * time.Microsecond // how long a member works on a flight, so that the kill comes in the middle
	checkpointEvery = 500 * time.Millisecond
)

// member is one member of the group: a pipeline that copies late flights, until its stdin ends.
func member(ctx context.Context, address, stream string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends when the parent wants it to, or is gone
		cancel()
	}()
	c, err := connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Shutdown(context.WithoutCancel(ctx)) }()
	in := iggysource.NewConsumer(c, groupName, wire.Named(stream), wire.Named(allTopic), iggysource.Group(), iggysource.Count(100))
	out := iggysink.NewProducer(c, wire.Named(stream), wire.Named(lateTopic))

	p := runnel.New(groupName, runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(checkpointEvery)))
	flights := runnel.From(p, iggysource.JSON[flight](in))
	worked := flow.Map(flights, func(f flight) flight { time.Sleep(pace); return f })
	late := flow.Filter(worked, flight.late)
	late.To(iggysink.JSON[flight](out))
	return p.Run(ctx)
}
