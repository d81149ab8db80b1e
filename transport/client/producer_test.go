package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestProducersGetNumbersOfTheirSession(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		_, err := c.NextProducerID()
		require.ErrorIs(t, err, wire.CodeUnauthenticated)
		f.set(func() { f.commits = 41 })
		require.NoError(t, c.Connect(t.Context()))
		for i := range uint64(3) {
			id, err := c.NextProducerID()
			require.NoError(t, err)
			require.Equal(t, 42<<20|i, id)
		}
		require.NoError(t, c.Login(t.Context(), "iggy", password))
		id, err := c.NextProducerID()
		require.NoError(t, err)
		require.Equal(t, uint64(44)<<20, id, "the log-out is a number of its own")
		require.False(t, c.Sessionless())
		require.Equal(t, time.Minute, c.CallTimeout())
	}, client.Timeout(time.Minute))
}

func TestASessionHasNoMoreProducersThanFitBelowItsNumber(t *testing.T) {
	connected(t, func(t *testing.T, _ *fake, c *client.Client) {
		seen := uint64(0)
		for range 1 << 20 {
			id, err := c.NextProducerID()
			require.NoError(t, err)
			require.True(t, seen == 0 || id == seen+1)
			seen = id
		}
		_, err := c.NextProducerID()
		require.ErrorIs(t, err, wire.CodeProducerIDsExhausted)
	})
}

func TestOverHTTPProducersGetNoNumber(t *testing.T) {
	withoutSession(t, func(t *testing.T, _ *fake, c *client.Client) {
		require.NoError(t, c.SignIn(context.Background()))
		_, err := c.NextProducerID()
		require.ErrorIs(t, err, wire.CodeFeatureUnavailable)
		require.True(t, c.Sessionless())
	})
}
