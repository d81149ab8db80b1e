package client_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestSignInConnectsAndLogsInOnceWhateverTheTransport(t *testing.T) {
	t.Parallel()
	for name, sessionless := range map[string]bool{"with sessions": false, "over HTTP": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.sessionless = sessionless
				c := newClient(t, f)
				defer func() { require.NoError(t, c.Shutdown(context.Background())) }() // that of t has ended
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() { require.NoError(t, c.SignIn(t.Context())) })
				}
				all.Wait()
				require.Equal(t, client.Authenticated, c.State())
				require.Len(t, f.of(wire.CmdLoginRegister), 1)
			})
		})
	}
}

func TestSignInWithRefusedCredentialsAsksTheServerOnce(t *testing.T) {
	withoutSession(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, refuse(wire.CodeInvalidCredentials))
		require.ErrorIs(t, c.SignIn(t.Context()), wire.CodeInvalidCredentials)
		require.ErrorIs(t, c.SignIn(t.Context()), wire.CodeInvalidCredentials)
		require.Len(t, f.of(wire.CmdLoginRegister), 1)
		require.NoError(t, c.Login(t.Context(), "iggy", "pass"))
		require.NoError(t, c.SignIn(t.Context()))
		require.Len(t, f.of(wire.CmdLoginRegister), 2)
	})
}

func TestSignInWithoutCredentialsSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c, err := client.New(f)
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Shutdown(context.Background())) }() // that of t has ended
		err = c.SignIn(t.Context())
		require.ErrorIs(t, err, wire.CodeUnauthenticated)
		require.ErrorIs(t, err, client.ErrNoCredentials)
	})
}
