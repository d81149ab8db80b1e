package engine

import "github.com/runnel-go/runnel/checkpoint"

// Alignment says when a marker, or the end, has come in on every input. It has no goroutine and no lock.
//
// Invariant 2: nothing that follows a marker on one input is handled before the marker has come on all of them; the
// inputs that have delivered it are held by their links until then.
type Alignment struct {
	seen  []checkpoint.Number // newest marker of each input
	ended []bool
	ends  int
}

// NewAlignment returns the alignment of that many inputs.
func NewAlignment(inputs int) *Alignment {
	return &Alignment{seen: make([]checkpoint.Number, inputs), ended: make([]bool, inputs)}
}

// Marker notes marker n on an input and says whether it is complete with that. A marker is counted by its number: an
// older one never completes a newer one.
func (a *Alignment) Marker(input int, n checkpoint.Number) bool {
	if n <= a.seen[input] {
		return false
	}
	a.seen[input] = n
	for _, seen := range a.seen {
		if seen < n {
			return false
		}
	}
	return true
}

// End notes the end of an input and says whether all have ended with that.
func (a *Alignment) End(input int) bool {
	if a.ended[input] {
		return false
	}
	a.ended[input] = true
	a.ends++
	return a.ends == len(a.ended)
}
