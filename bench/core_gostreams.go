package main

import (
	"context"

	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
)

// goStreamsCore is the chain of core in go-streams. The count is taken from the last operator's channel, without a sink.
func goStreamsCore(ctx context.Context, n int) (count int64, err error) {
	in := make(chan any, batchSize)
	go func() {
		defer close(in)
		for i := range n {
			if send[any](ctx, in, i) != nil {
				return
			}
		}
	}()
	c := userChain
	last := ext.NewChanSource(in).
		Via(flow.NewMap(c.first, 1)).
		Via(flow.NewFilter(c.keep, 1)).
		Via(flow.NewMap(c.last, 1))
	for range last.Out() {
		count++
	}
	return count, ctx.Err()
}
