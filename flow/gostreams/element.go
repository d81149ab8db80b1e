package gostreams

import (
	"fmt"
	"reflect"

	streams "github.com/reugn/go-streams"
)

// typed returns an element as the type that is expected.
func typed[T any](element any) (T, error) {
	v, ok := element.(T)
	if ok {
		return v, nil
	}
	want := reflect.TypeFor[T]()
	if element == nil && want.Kind() == reflect.Interface {
		return v, nil // a nil interface has no type to compare
	}
	return v, fmt.Errorf("gostreams: element has type %T, want %v", element, want)
}

// transmit passes elements on until there are no more, as parts of go-streams do.
func transmit(from <-chan any, to streams.Inlet) {
	in := to.In()
	defer close(in)
	for element := range from {
		in <- element
	}
}
