package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// Decode is [TryMap] for a function that fills in a value, as decoders do: it spares a copy, and an allocation where the
// function keeps a pointer for the time of the call.
//
//	in   --"1"--"x"--"3"--|
//	Decode(strconv)
//	out  --1---------3----|   with runnel.Skip
//
// The value that f is given is what a record before left there; f sets it whole. Order and metadata stay as they are;
// the metadata is not copied. An error or panic of f goes by the error policy.
func Decode[I, O any](s runnel.Stream[I], f func(from I, to *O) error, opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "decode", func() runnel.Stage[I, O] { return &decodeStage[I, O]{f} }, needs(f != nil, opts))
}

type decodeStage[I, O any] struct{ f func(I, *O) error }

// Process decodes a batch.
func (d *decodeStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return mapBatch(ctx, in, out, d)
}

func (d *decodeStage[I, O]) fill(to []O, from []I) (n int, err error) {
	defer catch(&err)
	f := d.f
	to = to[:len(from)]
	for i, v := range from {
		n = i
		if err = f(v, &to[i]); err != nil {
			return i, err
		}
	}
	return len(from), nil
}
