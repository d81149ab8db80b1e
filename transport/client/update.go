package client

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// update changes options of a stream, topic or user.
func (c *Client) update(ctx context.Context, body *wire.UpdateResource, faults ...*fault) error {
	sortOptions(body.Set)
	return c.do(ctx, wire.CmdUpdateResource, body, faults...)
}

// checkUpdate wants something to change, and no option twice.
func checkUpdate(body *wire.UpdateResource) *fault {
	switch {
	case len(body.Set) == 0 && len(body.Reset) == 0:
		return &fault{wire.CodeInvalidCommand, "nothing to set and nothing to reset"}
	case len(body.Reset) > math.MaxUint8:
		return &fault{wire.CodeInvalidCommand, fmt.Sprintf("%d options to reset, not up to 255", len(body.Reset))}
	}
	if f := checkOptions(body.Set); f != nil {
		return f
	}
	seen := map[string]bool{}
	for _, key := range body.Reset {
		if f := checkName(wire.CodeInvalidCommand, "the name of an option", key); f != nil {
			return f
		}
		if _, set := body.Set.Find(key); set || seen[key] {
			return &fault{wire.CodeInvalidCommand, "option " + key + " is named twice"}
		}
		seen[key] = true
	}
	return nil
}

// checkOptions wants options as a request may have them. Values are not shown: one may be a key.
func checkOptions(options wire.Options) *fault {
	if len(options) > wire.MaxOptions {
		return &fault{wire.CodeOptionsBlockTooLarge, fmt.Sprintf("%d options, not up to %d", len(options), wire.MaxOptions)}
	}
	seen := map[string]bool{}
	for _, o := range options {
		n := len(o.Value.Data)
		if f := checkName(wire.CodeInvalidCommand, "the name of an option", o.Key); f != nil {
			return f
		}
		switch {
		case n == 0 || n > math.MaxUint8:
			return &fault{wire.CodeInvalidOptionValue, fmt.Sprintf("the value of %s has %d bytes, not 1 to 255", o.Key, n)}
		case seen[o.Key]:
			return &fault{wire.CodeInvalidCommand, "option " + o.Key + " is named twice"}
		}
		seen[o.Key] = true
	}
	return nil
}

// sortOptions orders options by their names, as other clients do.
func sortOptions(options wire.Options) {
	slices.SortFunc(options, func(a, b wire.Option) int { return cmp.Compare(a.Key, b.Key) })
}
