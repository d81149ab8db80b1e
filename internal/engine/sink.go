package engine

import (
	"context"

	"github.com/runnel-go/runnel/checkpoint"
)

// SinkConfig is what a coordinator knows of a sink.
type SinkConfig struct {
	// Name is its name in the pipeline.
	Name string
	// Waits says that the sink is told when a checkpoint is decided, or is to be decided by it.
	Waits bool
	// Decides says that the sink's own transaction makes a checkpoint complete.
	Decides bool
}

// Sink is a sink as the coordinator sees it.
type Sink struct {
	c     *Coordinator
	party *Party
	cfg   SinkConfig
	turn  chan *checkpoint.Checkpoint
	done  chan error
}

// AddSink makes a sink known. It is called before the coordinator starts.
func (c *Coordinator) AddSink(cfg SinkConfig) *Sink {
	s := &Sink{
		c: c, cfg: cfg, party: &Party{Kind: "sink", Name: cfg.Name},
		turn: make(chan *checkpoint.Checkpoint, 1), done: make(chan error, 1),
	}
	c.sinks = append(c.sinks, s)
	c.parties = append(c.parties, s.party)
	return s
}

// Ack reports that everything before marker n is durable, or prepared with a token.
func (s *Sink) Ack(n checkpoint.Number, token []byte) {
	s.c.arrived(n, s.party, func(m *marker) {
		if s.cfg.Waits && !s.cfg.Decides {
			m.checkpoint.Sinks[s.cfg.Name] = token
		}
	})
}

// Turn waits until the checkpoint that was acknowledged last is decided, or is to be decided by this sink.
func (s *Sink) Turn(ctx context.Context) (*checkpoint.Checkpoint, error) {
	select {
	case c := <-s.turn:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Done reports what came of the sink's turn.
func (s *Sink) Done(err error) { s.done <- err }

// takeTurn lets the sink decide, or commit, and waits until it has.
func (s *Sink) takeTurn(ctx context.Context, c *checkpoint.Checkpoint) error {
	s.turn <- c
	select {
	case err := <-s.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
