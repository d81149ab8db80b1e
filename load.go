package runnel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// beginning says where an attempt starts.
type beginning struct {
	from  *checkpoint.Checkpoint // nil: nothing is known
	first bool                   // a durable store is empty and gets a checkpoint before the first record
}

// load reads the newest checkpoint and checks that it belongs to this graph.
func (p *Pipeline) load(ctx context.Context, log checkpoint.Log) (beginning, error) {
	c, err := log.Load(ctx, 0)
	var damaged *checkpoint.DamagedError
	switch {
	case errors.As(err, &damaged):
		c, err = p.fallBack(ctx, log, damaged)
	case errors.Is(err, checkpoint.ErrNotFound):
		err = nil
	}
	switch {
	case err != nil:
		return beginning{}, fmt.Errorf("runnel: pipeline %q: %w", p.name, err)
	case c == nil:
		return beginning{first: p.durable()}, nil
	}
	if err := p.checkShape(c); err != nil {
		return beginning{}, err
	}
	return beginning{from: c}, nil
}

func (p *Pipeline) durable() bool { return p.cfg.store != nil && p.cfg.store.Durable() }

// fallBack goes to the newest checkpoint before a damaged one; nil means that there is none. What a transactional sink has published since then
// would be published again, so with one of these the start is refused.
func (p *Pipeline) fallBack(ctx context.Context, log checkpoint.Log, damaged *checkpoint.DamagedError) (*checkpoint.Checkpoint, error) {
	for _, n := range p.nodes {
		if n.traits.Transactional || n.traits.Decides {
			return nil, fmt.Errorf("%w; %s is transactional, so an older checkpoint (%d) would repeat what it has published: "+
				"restore the file, or reset the checkpoints and what the sink has written", damaged, n.name, damaged.Intact)
		}
	}
	p.cfg.log.Warn("the newest checkpoint is damaged; an older one is used", "pipeline", p.name,
		"damaged", damaged.Number, "used", damaged.Intact, "err", damaged)
	if err := log.Rewind(ctx, damaged.Intact); err != nil {
		return nil, err
	}
	if damaged.Intact == 0 {
		return nil, nil
	}
	return log.Load(ctx, damaged.Intact)
}

// shape lists what checkpoints are bound to.
func (p *Pipeline) shape() []string {
	var shape []string
	for _, n := range p.nodes {
		if !n.bound() || n.traits.Moving {
			continue
		}
		kind := "stage"
		switch n.role {
		case engine.RoleSource:
			kind = "source"
		case engine.RoleSink:
			kind = "sink"
		}
		shape = append(shape, kind+" "+n.name)
	}
	slices.Sort(shape)
	return shape
}

// checkShape refuses a checkpoint that was taken of another graph.
func (p *Pipeline) checkShape(c *checkpoint.Checkpoint) error {
	var differs []string
	shape := p.shape()
	for _, part := range c.Shape {
		if !slices.Contains(shape, part) {
			differs = append(differs, part+" is in the checkpoint and not in the pipeline")
		}
	}
	for _, part := range shape {
		if !slices.Contains(c.Shape, part) {
			differs = append(differs, part+" is in the pipeline and not in the checkpoint")
		}
	}
	if len(differs) == 0 {
		return nil
	}
	return fmt.Errorf("runnel: pipeline %q: checkpoint %d was taken of another graph: %s; "+
		"change the names back, or start anew with another store or a reset one", p.name, c.Number, strings.Join(differs, "; "))
}

// goToDecided makes the checkpoint that the deciding sink knows as the newest the one that the attempt starts from.
// Invariant 10: after any crash a start that asks the decider reaches the same checkpoint.
func (a *attempt) goToDecided(ctx context.Context, log checkpoint.Log, n *node) error {
	decided, err := n.typed.(decidingNode).decided(ctx)
	if err != nil {
		return fmt.Errorf("ask for the newest decided checkpoint: %w", err)
	}
	var known checkpoint.Number
	if a.from != nil {
		known = a.from.Number
	}
	switch {
	case decided == known:
		return nil
	case decided > known && a.p.durable():
		return fmt.Errorf("it has decided checkpoint %d, and the store's newest is %d: the store is older than the sink", decided, known)
	case decided > known:
		a.from = &checkpoint.Checkpoint{Pipeline: a.p.name, Number: decided}
	default:
		if err := log.Rewind(ctx, decided); err != nil {
			return err
		}
		if a.from = nil; decided > 0 {
			if a.from, err = log.Load(ctx, decided); err != nil {
				return err
			}
		}
	}
	a.coordinator.StartFrom(decided, a.from == nil && a.p.durable())
	return nil
}

// decidingNode is the node of a sink that decides.
type decidingNode interface {
	decided(ctx context.Context) (checkpoint.Number, error)
}
