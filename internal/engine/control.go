package engine

import "github.com/runnel-go/runnel/checkpoint"

// Kind tells control items apart.
type Kind uint8

const (
	// Marker is a numbered item between two records.
	Marker Kind = iota + 1
	// End says that no record follows; markers still do.
	End
)

// Control is an item that travels with the records and carries no data.
type Control struct {
	// Kind says what it is.
	Kind Kind
	// Number is the marker's.
	Number checkpoint.Number
	// Full says that stages snapshot all of their state, not only what changed since the marker before.
	Full bool
	// Last says that nothing follows the marker: the run stops behind it.
	Last bool
}
