package iggyrust_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// line is a message as the Rust program prints it.
type line struct {
	Partition uint32   `json:"partition"`
	Offset    uint64   `json:"offset"`
	ID        string   `json:"id"`
	Key       string   `json:"key"`
	Payload   []byte   `json:"payload"`
	Block     []byte   `json:"block"`
	Headers   []header `json:"headers"`
}

// header is a user header of a message.
type header struct {
	Key   field `json:"key"`
	Value field `json:"value"`
}

type field struct {
	Kind wire.Kind `json:"kind"`
	Data []byte    `json:"data"`
}

// lines reads what the program has printed, in the order of partitions and offsets.
func lines(t *testing.T, out []byte) []line {
	t.Helper()
	var all []line
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(s.Bytes(), &l))
		all = append(all, l)
	}
	require.NoError(t, s.Err())
	return sorted(all)
}

func sorted(all []line) []line {
	slices.SortFunc(all, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	return all
}

// lineOf is the line of a message of this library.
func lineOf(t *testing.T, partition uint32, m *wire.Message) line {
	t.Helper()
	l := line{
		Partition: partition, Offset: m.Offset, ID: decimal(m.ID),
		Payload: append([]byte{}, m.Payload...), Block: append([]byte{}, m.UserHeaders...), Headers: []header{},
	}
	headers, err := wire.DecodeUserHeaders(nil, m.UserHeaders)
	require.NoError(t, err)
	for _, h := range headers {
		l.Headers = append(l.Headers, header{fieldOf(h.Key), fieldOf(h.Value)})
	}
	return l
}

func fieldOf(v wire.Value) field { return field{v.Kind, append([]byte{}, v.Data...)} }

// decimal writes an id as a number.
func decimal(id wire.Uint128) string {
	n := new(big.Int).SetUint64(id.Hi)
	n.Lsh(n, 64)
	return n.Or(n, new(big.Int).SetUint64(id.Lo)).String()
}
