package main

import (
	"context"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink/filesink"
	"github.com/runnel-go/runnel/source/iggysource"
	"github.com/runnel-go/runnel/transport/wire"
)

// collect writes the late flights to a file, each once, up to the newest one there is. It reads listed partitions, so that its
// position is in the folder of checkpoints and not on the server.
func (w *world) collect(ctx context.Context, out, state string) error {
	in := iggysource.NewConsumer(w.client, "collect", wire.Named(w.stream), wire.Named(lateTopic),
		iggysource.Partitions(0, 1), iggysource.Start(iggysource.FromFirst()), iggysource.UntilNow())

	p := runnel.New("collect", runnel.Checkpoint(checkpoint.Dir(state)))
	flights := runnel.From(p, iggysource.JSON[flight](in), runnel.Name("late"))
	once := flow.Dedup(flights, func(f flight) int { return f.ID }, 1_000_000, 0, runnel.Name("once"))
	once.To(filesink.NDJSON[flight](out, filesink.Replace()), runnel.Name("file"))
	return p.Run(ctx)
}
