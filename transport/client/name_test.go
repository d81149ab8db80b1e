package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestMessageWithoutAnIDGetsOne(t *testing.T) {
	t.Parallel()
	_, c := serve(t, 1)
	messages := []wire.Message{{Payload: []byte("a")}, {ID: wire.Uint128{Lo: 7}, Payload: []byte("b")}, {Payload: []byte("c")}}
	_, _, err := c.Send(t.Context(), part(0), nil, messages)
	require.NoError(t, err)
	polled, err := c.Poll(t.Context(), single, part(0), wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, client.Read{})
	require.NoError(t, err)
	seen := map[wire.Uint128]bool{}
	i := 0
	for r := wire.NewRecords(polled.Records); r.Next(); i++ {
		require.Equal(t, messages[i].ID, r.Message().ID, "the caller knows it")
		seen[r.Message().ID] = true
	}
	require.Len(t, seen, 3)
	require.NotContains(t, seen, wire.Uint128{})
	require.Contains(t, seen, wire.Uint128{Lo: 7})
}
