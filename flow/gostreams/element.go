package gostreams

import (
	"fmt"
	"strings"

	streams "github.com/reugn/go-streams"
)

// typed returns an element as the type that is expected.
func typed[T any](element any) (T, error) {
	v, ok := element.(T)
	if ok {
		return v, nil
	}
	if element == nil && any(v) == nil {
		return v, nil // T is an interface, and a nil in one has no type to compare
	}
	want := strings.TrimPrefix(fmt.Sprintf("%T", &v), "*")
	return v, fmt.Errorf("gostreams: element has type %T, want %s", element, want)
}

// transmit passes elements on until there are no more, as parts of go-streams do.
func transmit(from <-chan any, to streams.Inlet) {
	in := to.In()
	defer close(in)
	for element := range from {
		in <- element
	}
}
