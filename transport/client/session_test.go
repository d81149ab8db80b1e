package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestConnectLogsInAndReadsTheRoster(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.Equal(t, client.Authenticated, c.State())
		require.Equal(t, []wire.Command{wire.CmdLoginRegister, wire.CmdGetClusterMetadata}, f.order())
		login := f.of(wire.CmdLoginRegister)[0]
		require.Equal(t, wire.RequestChecksum(login.body), login.header.Checksum)
		require.Zero(t, login.header.Request)
		is := body[wire.LoginRegister](t, login)
		require.Equal(t, wire.Version0120, is.Client.Version)
		require.Equal(t, "runnel-go", is.Client.SDKName)
		require.NotZero(t, is.Secret)
		require.EqualValues(t, 1, f.of(wire.CmdGetClusterMetadata)[0].header.Request)
		require.NoError(t, c.Connect(t.Context()), "a client that is connected")
	})
}

func TestRefusedCredentialsAreForgotten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		answer answer
		code   wire.Code
	}{
		{"wrong password", evict(wire.EvictInvalidCredentials, 0, 0), wire.CodeInvalidCredentials},
		{"wrong token", evict(wire.EvictInvalidToken, 0, 0), wire.CodeInvalidPersonalAccessToken},
		{"inactive", evict(wire.EvictUserInactive, 0, 0), wire.CodeUnauthenticated},
		{"malformed", evict(wire.EvictMalformedLogin, 0, 0), wire.CodeInvalidFormat},
		{"status 42", refuse(wire.CodeInvalidCredentials), wire.CodeInvalidCredentials},
		{"status 43", refuse(wire.CodeInvalidUsername), wire.CodeInvalidUsername},
		{"status 44", refuse(wire.CodeInvalidPassword), wire.CodeInvalidPassword},
		{"status 47", refuse(wire.CodeUserInactive), wire.CodeUserInactive},
		{"status 54", refuse(wire.CodePersonalAccessTokenExpired), wire.CodePersonalAccessTokenExpired},
		{"status 4", refuse(wire.CodeInvalidFormat), wire.CodeInvalidFormat},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, c *client.Client) {
				f.next(wire.CmdLoginRegister, tc.answer)
				err := c.Connect(t.Context())
				require.ErrorIs(t, err, tc.code)
				require.False(t, client.Retryable(err))
				require.NotContains(t, err.Error(), password)
				require.Equal(t, client.Disconnected, c.State())
				time.Sleep(time.Hour)
				require.Len(t, f.of(wire.CmdLoginRegister), 1, "no further attempts")
				require.NoError(t, c.Connect(t.Context()), "without a login")
				require.ErrorIs(t, c.MakeStream(t.Context(), "s"), wire.CodeUnauthenticated)
				require.Len(t, f.of(wire.CmdLoginRegister), 1)
				require.NoError(t, c.Login(t.Context(), "iggy", "another"))
				require.NoError(t, c.MakeStream(t.Context(), "s"))
			})
		})
	}
}

func TestStatusFourMeansAnotherProtocol(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, refuse(wire.CodeInvalidFormat))
		require.ErrorIs(t, c.Connect(t.Context()), client.ErrOtherProtocol)
	})
}

func TestVersionThatTheServerWantsIsAnnounced(t *testing.T) {
	connected12 := func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, evict(wire.EvictIncompatibleProtocol, wire.Version0122, wire.Version0122))
		require.NoError(t, c.Connect(t.Context()))
		logins := f.of(wire.CmdLoginRegister)
		require.Len(t, logins, 2)
		require.Equal(t, wire.Version0120, body[wire.LoginRegister](t, logins[0]).Client.Version)
		require.Equal(t, wire.Version0122, body[wire.LoginRegister](t, logins[1]).Client.Version)
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Equal(t, wire.Version0122, body[wire.BindSession](t, f.of(wire.CmdBindSession)[0]).Client.Version)
	}
	bubble(t, connected12)
}

func TestServerOfAnotherLineIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	old := wire.MakeVersion(0, 11, 0)
	for _, tc := range []struct {
		name    string
		prepare func(f *fake)
	}{
		{"eviction", func(f *fake) { f.next(wire.CmdLoginRegister, evict(wire.EvictIncompatibleProtocol, old, old)) }},
		{"reply", func(f *fake) { f.version = old }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, c *client.Client) {
				tc.prepare(f)
				err := c.Connect(t.Context())
				require.ErrorIs(t, err, wire.CodeIncompatibleProtocolVersion)
				require.ErrorContains(t, err, "0.12.0")
				require.ErrorContains(t, err, "0.11.0")
				require.Len(t, f.of(wire.CmdLoginRegister), 1)
			})
		})
	}
}

func TestTransientRefusalOfALoginIsRepeatedAsItWas(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, refuse(wire.CodeTransientNotCommitted), refuse(wire.CodeTransientNotAccepted))
		require.NoError(t, c.Connect(t.Context()))
		logins := f.of(wire.CmdLoginRegister)
		require.Len(t, logins, 3)
		require.Equal(t, logins[0].frame, logins[2].frame)
	})
}

func TestLoginWithoutAReplyIsResolvedByABind(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, lost)
		require.NoError(t, c.Connect(t.Context()))
		require.Len(t, f.of(wire.CmdLoginRegister), 1)
		bind := f.of(wire.CmdBindSession)[0]
		require.Zero(t, bind.header.Session)
		require.Zero(t, bind.header.Request)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestLoginThatWasNotCarriedOutIsMadeAnew(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, ignored)
		require.NoError(t, c.Connect(t.Context()))
		require.Equal(t, []wire.Command{
			wire.CmdLoginRegister, wire.CmdBindSession, wire.CmdLoginRegister, wire.CmdGetClusterMetadata,
		}, f.order())
	})
}

func TestLostLinkIsBoundToTheSession(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.MakeStream(t.Context(), "a"))
		f.cut()
		synctest.Wait()
		require.NoError(t, c.MakeStream(t.Context(), "b"))
		require.Len(t, f.of(wire.CmdLoginRegister), 1)
		bind, login := f.of(wire.CmdBindSession)[0], f.of(wire.CmdLoginRegister)[0]
		said := body[wire.BindSession](t, bind)
		require.Equal(t, login.header.Client, said.ClientID)
		require.Equal(t, body[wire.LoginRegister](t, login).Secret, said.Secret)
		require.Equal(t, bind.header.Session, said.Session)
		require.NotZero(t, said.MetadataWatermark)
		require.EqualValues(t, 3, bind.header.Request, "the counter goes on")
		require.Len(t, f.of(wire.CmdGetClusterMetadata), 1, "the roster is not read again")
	})
}

func TestLostSessionIsBegunAnewWithTheGroups(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		answer answer
	}{
		{"IGG-04 unknown", usual},
		{"refused with 40", refuse(wire.CodeUnauthenticated)},
		{"refused with 57", refuse(wire.CodeTransientNotCommitted)},
		{"evicted", evict(wire.EvictNoSession, 0, 0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			connected(t, func(t *testing.T, f *fake, c *client.Client) {
				group := wire.GroupOf{Stream: wire.Named("s"), Topic: wire.Named("t"), Group: wire.Named("g")}
				require.NoError(t, c.JoinConsumerGroup(t.Context(), group))
				queued := async(func() error { return nil })
				require.NoError(t, <-queued)
				f.forget()
				f.next(wire.CmdBindSession, tc.answer)
				f.set(func() { f.down = true })
				f.cut()
				synctest.Wait()
				queued = async(func() error { return c.MakeStream(t.Context(), "queued") })
				synctest.Wait()
				f.set(func() { f.down = false })
				require.NoError(t, <-queued)
				logins := f.of(wire.CmdLoginRegister)
				first, second := logins[0], logins[len(logins)-1]
				require.NotEqual(t, first.header.Client, second.header.Client)
				require.NotEqual(t, body[wire.LoginRegister](t, first).Secret, body[wire.LoginRegister](t, second).Secret)
				order := f.order()
				require.Equal(t, []wire.Command{
					wire.CmdLoginRegister, wire.CmdGetClusterMetadata, wire.CmdJoinConsumerGroup, wire.CmdCreateStream,
				}, order[len(order)-4:])
				require.Greater(t, f.of(wire.CmdCreateStream)[0].header.Request, f.of(wire.CmdJoinConsumerGroup)[0].header.Request)
			})
		})
	}
}

func TestLostSessionWithoutCredentialsSaysSoAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c, err := client.New(f)
		require.NoError(t, err)
		require.NoError(t, c.Connect(t.Context()))
		require.Equal(t, client.Connected, c.State())
		start := time.Now()
		err = c.MakeStream(t.Context(), "s")
		require.ErrorIs(t, err, wire.CodeUnauthenticated)
		require.ErrorIs(t, err, client.ErrNoCredentials)
		require.Zero(t, time.Since(start))
		require.NoError(t, c.Ping(t.Context()))
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

func TestPasswordThatChangedMeanwhileLeavesTheClientConnected(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.forget()
		f.next(wire.CmdLoginRegister, evict(wire.EvictInvalidCredentials, 0, 0))
		f.cut()
		time.Sleep(time.Hour)
		require.Len(t, f.of(wire.CmdLoginRegister), 2)
		require.Equal(t, client.Connected, c.State())
		err := c.MakeStream(t.Context(), "s")
		require.ErrorIs(t, err, wire.CodeUnauthenticated)
		require.ErrorIs(t, err, wire.CodeInvalidCredentials, "the cause")
	})
}

func TestEvictionsBindTheSessionAgain(t *testing.T) {
	t.Parallel()
	for reason := wire.EvictNoSession; reason <= wire.EvictMalformedLogin; reason++ {
		t.Run(reason.String(), func(t *testing.T) {
			connected(t, func(t *testing.T, f *fake, c *client.Client) {
				f.next(wire.CmdCreateStream, evict(reason, 0, 0))
				require.NoError(t, c.MakeStream(t.Context(), "s"))
				frames := f.of(wire.CmdCreateStream)
				require.Len(t, frames, 2)
				require.Equal(t, frames[0].frame, frames[1].frame)
				require.Len(t, f.of(wire.CmdLoginRegister), 1)
			})
		})
	}
}

func TestBindThatHangsIsGivenUp(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdBindSession, deaf)
		f.cut()
		start := time.Now()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.GreaterOrEqual(t, time.Since(start), 10*time.Second)
		require.Len(t, f.of(wire.CmdBindSession), 2)
		require.Len(t, f.of(wire.CmdLoginRegister), 1)
	})
}

func TestLoginLogsOutFirst(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.Login(t.Context(), "other", "pass"))
		require.Equal(t, []wire.Command{
			wire.CmdLoginRegister, wire.CmdGetClusterMetadata, wire.CmdLogout, wire.CmdLoginRegister, wire.CmdGetClusterMetadata,
		}, f.order())
		require.Equal(t, "other", body[wire.LoginRegister](t, f.of(wire.CmdLoginRegister)[1]).Username)
		f.forget()
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Equal(t, "other", body[wire.LoginRegister](t, f.of(wire.CmdLoginRegister)[2]).Username)
		require.NoError(t, c.Logout(t.Context()))
		require.Equal(t, client.Connected, c.State())
		require.ErrorIs(t, c.MakeStream(t.Context(), "s"), wire.CodeUnauthenticated)
	})
}

func TestLoginOverALostLinkIsCarriedOn(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]answer{"lost": lost, "ignored": ignored, "unsent": unsent} {
		t.Run(name, func(t *testing.T) {
			connected(t, func(t *testing.T, f *fake, c *client.Client) {
				f.next(wire.CmdLoginRegister, answer)
				require.NoError(t, c.Login(t.Context(), "other", "pass"))
				require.Equal(t, client.Authenticated, c.State())
				require.NoError(t, c.MakeStream(t.Context(), "s"))
			})
		})
	}
}

func TestCallOfAnEarlierLoginIsNotSent(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.set(func() { f.down = true })
		f.cut()
		synctest.Wait()
		waiting := async(func() error { return c.MakeStream(t.Context(), "s") })
		synctest.Wait()
		login := async(func() error { return c.Login(t.Context(), "other", "pass") })
		synctest.Wait()
		f.set(func() { f.down = false })
		require.NoError(t, <-login)
		err := <-waiting
		require.ErrorIs(t, err, wire.CodeUnauthenticated)
		require.ErrorIs(t, err, client.ErrOtherLogin)
		require.Empty(t, f.of(wire.CmdCreateStream))
	})
}

func TestNothingPrintsSecrets(t *testing.T) {
	connected(t, func(t *testing.T, _ *fake, c *client.Client) {
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("client", "client", c)
		for _, text := range []string{
			fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %x", c, c, c, c, c), log.String(),
			fmt.Sprintf("%+v", client.Password("iggy", password)),
		} {
			require.NotContains(t, text, password)
		}
	})
}

func TestFrameThatTheServerCannotReadIsNotSentForEver(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		bad := evict(wire.EvictInvalidBody, 0, 0)
		f.next(wire.CmdCreateStream, bad, bad, bad)
		err := c.MakeStream(t.Context(), "s")
		require.ErrorIs(t, err, wire.CodeOperationUncertain)
		require.ErrorIs(t, err, wire.CodeInvalidCommand)
		require.Len(t, f.of(wire.CmdCreateStream), 2)
		f.next(wire.CmdGetStreams, bad, bad, bad)
		_, err = c.GetStreams(t.Context())
		require.ErrorIs(t, err, wire.CodeInvalidCommand)
		require.Len(t, f.of(wire.CmdGetStreams), 2)
	})
}

func TestLoginWhoseCallerGivesUpIsFoundOutAbout(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdLoginRegister, silent)
		require.ErrorIs(t, c.Login(within(t, time.Second), "other", "pass"), context.DeadlineExceeded)
		time.Sleep(time.Minute)
		require.Equal(t, client.Authenticated, c.State())
		require.Len(t, f.of(wire.CmdLoginRegister), 2, "a bind has told")
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestJoinWithAnUncertainOutcomeIsMadeAgainInANewSession(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		group := wire.GroupOf{Stream: wire.Named("s"), Topic: wire.Named("t"), Group: wire.Named("g")}
		f.next(wire.CmdJoinConsumerGroup, silent)
		uncertain(t, c.JoinConsumerGroup(t.Context(), group))
		f.forget()
		f.cut()
		time.Sleep(5 * time.Second)
		require.NoError(t, c.MakeStream(t.Context(), "s"), "nothing is in the way in the new session")
		require.Len(t, f.of(wire.CmdJoinConsumerGroup), 2)
		f.next(wire.CmdJoinConsumerGroup, refuse(wire.CodeConsumerGroupIDNotFound))
		f.forget()
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"), "a group that is gone is in nobody's way")
		f.forget()
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Len(t, f.of(wire.CmdJoinConsumerGroup), 3, "and forgotten")
	})
}

func TestLinkThatIsLostWhileGroupsAreJoinedIsMadeAnew(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		group := wire.GroupOf{Stream: wire.Named("s"), Topic: wire.Named("t"), Group: wire.Named("g")}
		require.NoError(t, c.JoinConsumerGroup(t.Context(), group))
		f.next(wire.CmdJoinConsumerGroup, lost, refuse(wire.CodeTransientNotAccepted))
		f.forget()
		f.cut()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Len(t, f.of(wire.CmdJoinConsumerGroup), 4)
		require.Len(t, f.of(wire.CmdLoginRegister), 2, "the session began before the link was lost")
		order := f.order()
		require.Equal(t, wire.CmdCreateStream, order[len(order)-1])
	})
}

func TestClientsComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 20 {
					switch i % 4 {
					case 0:
						_ = c.Connect(within(t, time.Second))
					case 1:
						_ = c.Disconnect(t.Context())
					case 2:
						_ = c.Login(within(t, time.Second), "other", "pass")
					case 3:
						_ = c.MakeStream(within(t, time.Second), "s")
						f.cut()
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		all.Wait()
		require.NoError(t, c.Connect(t.Context()))
		require.NoError(t, c.Login(t.Context(), "last", "pass"))
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestLoginWithAToken(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, c.Connect(t.Context()))
		require.Equal(t, "token", body[wire.LoginRegisterWithToken](t, f.of(wire.CmdLoginRegister)[0]).Token)
		require.NoError(t, c.LoginWithToken(t.Context(), "other"))
		require.Equal(t, "other", body[wire.LoginRegisterWithToken](t, f.of(wire.CmdLoginRegister)[1]).Token)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Equal(t, "authenticated", c.State().String())
		require.Equal(t, "iggy client of fake://server", c.String())
	}, client.Token("token"))
}

func TestServerWithAStrangeReplyToALoginIsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		body wire.Body
		code wire.Code
	}{
		{"no session", &wire.Registered{Version: wire.Version0120, ServerVersion: "x"}, wire.CodeInvalidSession},
		{"nothing", nil, wire.CodeInvalidCommand},
		{"something else", &wire.CreateStream{Name: "x"}, wire.CodeInvalidCommand},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, c *client.Client) {
				f.next(wire.CmdLoginRegister, func(_ *fakeConn, r *asked) (transport.Frame, error) {
					return wire.AppendReply(nil, wire.NewReply(&r.header), tc.body)
				})
				require.ErrorIs(t, c.Connect(t.Context()), tc.code)
			}, client.Reconnect(0, time.Second, 0))
		})
	}
}
