package checkpoint

import (
	"fmt"
	"maps"
	"slices"
)

// Pruning keeps whole chains, from the newest back: at least keepChains of them, and more while these hold fewer
// than keepCheckpoints. A checkpoint without changes is a chain of its own, so the second rule speaks of those.
const (
	keepChains      = 2
	keepCheckpoints = 3
)

// link is a checkpoint's place in its chain. One that starts a chain is its own base and has no parent.
type link struct {
	number, parent, base Number
}

// starts says whether a chain begins here.
func (l link) starts() bool { return l.base == l.number }

// prunable returns how many of the oldest links can go. An unknown place, whose base is 0, goes with the link before.
func prunable(links []link) int {
	chains := 0
	for i := len(links) - 1; i > 0; i-- {
		if !links[i].starts() {
			continue
		}
		chains++
		if chains >= keepChains && len(links)-i >= keepCheckpoints {
			return i
		}
	}
	return 0
}

// startsChain says whether all states are full, so that nothing before c is needed to read it.
func (c *Checkpoint) startsChain() bool {
	for _, s := range c.States {
		if !s.Full {
			return false
		}
	}
	return true
}

// place returns the link of c behind newest, or why c cannot be saved there by that pipeline. states says of which
// stages newest holds a state; it is asked only if c holds changes.
func (c *Checkpoint) place(pipeline string, newest link, states func() (map[string]bool, error)) (link, error) {
	if c.Pipeline != pipeline {
		return link{}, fmt.Errorf("%w: checkpoint %d of %q saved by %q", ErrOtherPipeline, c.Number, c.Pipeline, pipeline)
	}
	if c.Number <= newest.number {
		return link{}, fmt.Errorf("%w: %d after %d", ErrStale, c.Number, newest.number)
	}
	for name, s := range c.States {
		if s.Full && len(s.Deleted) > 0 {
			return link{}, fmt.Errorf("checkpoint: %d: full state of %q deletes keys", c.Number, name)
		}
	}
	if c.startsChain() {
		return link{number: c.Number, base: c.Number}, nil
	}
	before, err := states()
	if err != nil {
		return link{}, err
	}
	if err := builtOn(before, c.States); err != nil {
		return link{}, fmt.Errorf("checkpoint: %d: %w", c.Number, err)
	}
	return link{number: c.Number, parent: newest.number, base: newest.base}, nil
}

// builtOn returns an error if a state has changes but the checkpoint before has nothing that they change.
func builtOn(before map[string]bool, states map[string]State) error {
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if !states[name].Full && !before[name] {
			return fmt.Errorf("changes to the state of %q, which the checkpoint before does not hold", name)
		}
	}
	return nil
}

// merged returns states with every change applied to the state before, which it takes over. Keys are deleted before
// others are set.
func merged(before, states map[string]State) map[string]State {
	if states == nil {
		return nil
	}
	out := make(map[string]State, len(states))
	for name, s := range states {
		if s.Full {
			out[name] = s
			continue
		}
		all := before[name].Put
		if all == nil {
			all = make(map[string][]byte, len(s.Put))
		}
		for _, key := range s.Deleted {
			delete(all, key)
		}
		maps.Copy(all, s.Put)
		out[name] = State{Full: true, Put: all}
	}
	return out
}

// stateNames returns the set of stages that states speaks of.
func stateNames(states map[string]State) map[string]bool {
	names := make(map[string]bool, len(states))
	for name := range states {
		names[name] = true
	}
	return names
}
