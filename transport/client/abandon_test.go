package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestUncertainWriteIsAbandoned(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, silent)
		operation := uncertain(t, c.MakeStream(t.Context(), "s"))
		require.NoError(t, c.AbandonOperation(operation))
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		_, err := c.ResolveOperation(t.Context(), operation)
		require.ErrorIs(t, err, wire.CodeOperationNotRetained)
	})
}

func TestNoOperationIsAbandonedByTheNumberOfNone(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, silent)
		done := async(func() error { return c.MakeStream(t.Context(), "s") })
		synctest.Wait()
		require.ErrorIs(t, c.AbandonOperation(0), wire.CodeOperationNotRetained)
		uncertain(t, <-done)
	})
}

func TestAbandonedOperationIsNotSentAnyMore(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, silent)
		operation := uncertain(t, c.MakeStream(t.Context(), "s"))
		f.next(wire.CmdCreateStream, silent)
		resolving := async(func() error {
			_, err := c.ResolveOperation(t.Context(), operation)
			return err
		})
		synctest.Wait()
		require.NoError(t, c.AbandonOperation(operation))
		synctest.Wait()
		err := <-resolving
		require.ErrorIs(t, err, wire.CodeOperationUncertain)
		require.ErrorContains(t, err, "abandoned")
		before := len(f.order())
		time.Sleep(time.Minute)
		require.NotContains(t, f.order()[before:], wire.CmdCreateStream)
	})
}
