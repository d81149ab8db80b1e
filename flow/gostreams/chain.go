package gostreams

import streams "github.com/reugn/go-streams"

// Chain joins flows into one, for [Via]: what is put into it goes through all of them, in order.
func Chain(first streams.Flow, more ...streams.Flow) streams.Flow {
	last := first
	for _, next := range more {
		last = last.Via(next)
	}
	return chain{Flow: last, first: first}
}

// chain is a flow that ends with the embedded one.
type chain struct {
	streams.Flow
	first streams.Inlet
}

// In returns the inlet of the first flow.
func (c chain) In() chan<- any { return c.first.In() }
