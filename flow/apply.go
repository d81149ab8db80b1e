package flow

import (
	"errors"
	"fmt"

	"github.com/runnel-go/runnel"
)

// apply passes a stream through a stage that needs nothing of its environment, and waits for nothing.
func apply[I, O any](s runnel.Stream[I], kind string, open func() runnel.Stage[I, O], opts []runnel.StageOption) runnel.Stream[O] {
	opts = with(opts, runnel.NoTimeout())
	return runnel.Apply(s, kind, nil, func(runnel.StageEnv) (runnel.Stage[I, O], error) { return open(), nil }, opts...)
}

// with returns opts behind the options that an operator gives itself.
func with(opts []runnel.StageOption, own ...runnel.StageOption) []runnel.StageOption {
	return append(own, opts...)
}

var errNoFunction = errors.New("its function is nil")

// needs returns opts, with the mistake noted if a function is missing.
func needs(given bool, opts []runnel.StageOption) []runnel.StageOption {
	if given {
		return opts
	}
	return with(opts, runnel.Invalid(errNoFunction))
}

// atLeast returns opts, with the mistake noted if an argument is too small.
func atLeast(what string, n, least int, opts []runnel.StageOption) []runnel.StageOption {
	if n >= least {
		return opts
	}
	return with(opts, runnel.Invalid(fmt.Errorf("%s is %d; it must be at least %d", what, n, least)))
}
