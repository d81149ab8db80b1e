package flow_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/source"
	"github.com/stretchr/testify/require"
)

func ExampleDecode() {
	p := runnel.New("example")
	words := runnel.From(p, source.Slice([]string{"1", "two", "3"}))
	parse := func(from string, to *int) (err error) {
		*to, err = strconv.Atoi(from)
		return err
	}
	show(p, flow.Decode(words, parse, runnel.Skip()))
	// Output:
	// 1
	// 3
}

func TestDecodeRetriesInPlaceAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	tries := 0
	parse := func(from int, to *int) error {
		if from%3 == 1 {
			*to = -1
			if tries++; tries%2 == 1 {
				return errors.New("works the second time")
			}
		}
		if from == 5 {
			panic("five")
		}
		*to = 10 * from
		return nil
	}
	p := runnel.New("decode")
	got := sink.NewSlice[int]()
	rejects := sink.NewSlice[runnel.Failed]()
	numbers := runnel.From(p, source.Slice([]int{0, 1, 2, 3, 4, 5, 6, 7}))
	flow.Decode(numbers, parse, runnel.Retry(2, 0), runnel.DeadLetter(rejects)).To(got)
	require.NoError(t, p.Run(context.Background()))
	require.Equal(t, []int{0, 10, 20, 30, 40, 60, 70}, got.Values())
	require.Len(t, rejects.Values(), 1)
	require.Equal(t, 5, rejects.Values()[0].Value)
	var panicked *runnel.PanicError
	require.ErrorAs(t, rejects.Values()[0].Err, &panicked)
}
