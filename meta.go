package runnel

import (
	"sync/atomic"
	"time"
)

// Header is one named value that travels with a record. A nil Value differs from an empty one.
type Header struct {
	// Name is the header's name; names may repeat.
	Name string
	// Value is the header's value, or nil.
	Value []byte
}

// Headers keeps order, repeated names and nil values.
type Headers []Header

// Get returns the value of the last header of that name.
func (h Headers) Get(name string) (value []byte, ok bool) {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].Name == name {
			return h[i].Value, true
		}
	}
	return nil, false
}

// Values returns the values of all headers of that name, in order.
func (h Headers) Values(name string) [][]byte {
	var values [][]byte
	for _, header := range h {
		if header.Name == name {
			values = append(values, header.Value)
		}
	}
	return values
}

// Assignment is a partition as it was given to one reader. Records carry the assignment that they were read under, so
// that none of them goes further once it is revoked. It is safe for concurrent use.
type Assignment struct {
	source    string
	partition string
	byHand    bool // of no reader: a record whose origin was written by hand has it
	revoked   atomic.Bool
}

// NewAssignment returns an assignment of a partition of a source, by their names.
func NewAssignment(source, partition string) *Assignment {
	return &Assignment{source: source, partition: partition}
}

// Source returns the name of the source.
func (a *Assignment) Source() string { return a.source }

// Partition returns the name of the partition.
func (a *Assignment) Partition() string { return a.partition }

// Revoke ends the assignment: from here on no stage or sink receives a record that was read under it. Records dropped
// so are abandoned: the partition's next owner reads them again. It may be called more than once.
func (a *Assignment) Revoke() { a.revoked.Store(true) }

// Revoked says whether Revoke was called.
func (a *Assignment) Revoked() bool { return a.revoked.Load() }

// Origin says where a record was read. The zero value means nowhere: the record was made by a stage.
type Origin struct {
	// Source is the name of the source.
	Source string
	// Partition is the source's name for the partition, file or stream within it.
	Partition string
	// Offset is the record's own offset there.
	Offset int64

	assignment *Assignment
}

// Meta is what travels with a value. The zero value says nothing of it.
type Meta struct {
	// Key is the record's key, or nil.
	Key []byte
	// Time is when the record happened; zero if that is unknown.
	Time time.Time
	// Headers are the record's headers.
	Headers Headers
	// Origin is where it was read.
	Origin Origin
}

// Record is a value with its metadata.
type Record[T any] struct {
	// Value is the record's value.
	Value T
	Meta
}
