package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// Over HTTP the login is explicit, and what follows is as over the other transports.
func TestIGG07ClientOverHTTP(t *testing.T) {
	t.Parallel()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	c := connectOver(t, dial.HTTP, server)
	require.Equal(t, client.Connected, c.State())
	err = c.Setup(t.Context(), 2)
	require.ErrorIs(t, err, wire.CodeUnauthenticated)
	require.ErrorIs(t, c.Login(t.Context(), "iggy", "wrong horse"), wire.CodeInvalidCredentials)
	require.NoError(t, c.Login(t.Context(), "iggy", "iggy"))
	require.NoError(t, c.Setup(t.Context(), 2))
	_, _, err = c.Send(t.Context(), part(1), nil, texts(0, 3))
	require.NoError(t, err)
	first := wire.PollingStrategy{Kind: wire.FromFirst}
	polled, err := c.Poll(t.Context(), single, part(1), first, wire.PartitionContext{}, client.Read{})
	require.NoError(t, err)
	require.Equal(t, []string{"message 0", "message 1", "message 2"}, payloads(t, polled.Records))
	require.NoError(t, c.StoreOffset(t.Context(), single, part(1), 1, wire.PartitionContext{}))
	offset, found, err := c.GetOffset(t.Context(), single, part(1))
	require.NoError(t, err)
	require.True(t, found)
	require.EqualValues(t, 1, offset.Stored)
	by := wire.Partitioning{Kind: wire.PartitionByKey, Key: []byte("key")}
	require.NoError(t, c.SendPartitioned(t.Context(), wire.Named("s"), wire.Named("t"), by, texts(3, 4)))
	require.NoError(t, c.Ping(t.Context()))
	require.NoError(t, c.Logout(t.Context()))
	require.ErrorIs(t, c.MakeStream(t.Context(), "x"), wire.CodeUnauthenticated)
}
