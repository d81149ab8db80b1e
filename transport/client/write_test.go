package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func send(ctx context.Context, c *client.Client, partition uint32) error {
	_, _, err := c.Send(ctx, part(partition), nil, texts(0, 1))
	return err
}

// kinds are the kinds of writes, with their commands.
var kinds = []struct {
	name    string
	command wire.Command
	do      func(ctx context.Context, c *client.Client) error
}{
	{"metadata", wire.CmdCreateStream, func(ctx context.Context, c *client.Client) error { return c.MakeStream(ctx, "s") }},
	{"send", wire.CmdSendMessages, func(ctx context.Context, c *client.Client) error { return send(ctx, c, 0) }},
	{"store", wire.CmdStoreConsumerOffset, func(ctx context.Context, c *client.Client) error {
		return c.StoreOffset(ctx, single, part(0), 1, wire.PartitionContext{})
	}},
	{"delete", wire.CmdDeleteConsumerOffset, func(ctx context.Context, c *client.Client) error {
		return c.DeleteOffset(ctx, single, part(0), wire.PartitionContext{})
	}},
}

// Whatever is in the way of a write, it happens once, and the frames that were sent are the same.
func TestWriteHappensOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, tc := range []struct {
			name    string
			answers []answer
			frames  int
		}{
			{"lost before it is sent", []answer{unsent}, 2},
			{"lost behind the sending", []answer{ignored}, 2},
			{"lost reply", []answer{lost}, 2},
			{"lost three times", []answer{lost, unsent, ignored}, 4},
			{"57 and done", []answer{inDoubt}, 2},
			{"57 and not done", []answer{refuse(wire.CodeTransientNotCommitted)}, 2},
			{"58", []answer{refuse(wire.CodeTransientNotAccepted)}, 2},
			{"90", []answer{refuse(wire.CodeDeferredPollCapacityExceeded)}, 2},
			{"58 behind a lost reply", []answer{lost, refuse(wire.CodeTransientNotAccepted)}, 3},
			{"88 behind a lost reply", []answer{lost, refuse(wire.CodeLifecycleBusy)}, 3},
			{"reply that proves nothing", []answer{unproven}, 2},
		} {
			t.Run(kind.name+"/"+tc.name, func(t *testing.T) {
				connected(t, func(t *testing.T, f *fake, c *client.Client) {
					f.next(kind.command, tc.answers...)
					require.NoError(t, kind.do(t.Context(), c))
					require.Equal(t, 1, f.happened())
					frames := f.of(kind.command)
					require.Len(t, frames, tc.frames)
					for _, frame := range frames {
						require.Equal(t, frames[0].frame, frame.frame)
					}
				})
			})
		}
	}
}

func TestBusyLifecycleIsANewRequest(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, refuse(wire.CodeLifecycleBusy))
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		frames := f.of(wire.CmdCreateStream)
		require.Len(t, frames, 2)
		require.Less(t, frames[0].header.Request, frames[1].header.Request)
		require.NotEqual(t, frames[0].header.Checksum, frames[1].header.Checksum)
	})
}

func TestPartitionThatMovedIsAskedForWithAHigherView(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdSendMessages, refuse(wire.CodeNotPrimary))
		done := async(func() error { return send(t.Context(), c, 0) })
		time.Sleep(5 * time.Second)
		require.Greater(t, len(f.of(wire.CmdGetPartitionRoute)), 2, "it is asked for until the view is higher")
		f.set(func() { f.view = 1 })
		require.NoError(t, <-done)
		frames := f.of(wire.CmdSendMessages)
		require.Len(t, frames, 2)
		require.Equal(t, frames[0].frame, frames[1].frame)
	})
}

func TestSendBeginsAnewInANewLife(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		require.NoError(t, send(t.Context(), c, 0))
		f.set(func() { f.life++ })
		require.NoError(t, send(t.Context(), c, 0))
		frames := f.of(wire.CmdSendMessages)
		require.Len(t, frames, 3)
		require.EqualValues(t, 8, frames[2].header.Context.Incarnation)
		require.Less(t, frames[1].header.Request, frames[2].header.Request)
		stale := refuse(wire.CodeHistoryUnavailable)
		f.next(wire.CmdSendMessages, stale, stale)
		require.ErrorIs(t, send(t.Context(), c, 0), wire.CodeHistoryUnavailable, "once only")
		require.Len(t, f.of(wire.CmdSendMessages), 5)
		require.NoError(t, send(t.Context(), c, 0))
	})
}

func TestSendThatMayHaveHappenedDoesNotBeginAnew(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdSendMessages, lost, refuse(wire.CodeHistoryUnavailable))
		err := send(t.Context(), c, 0)
		require.ErrorIs(t, err, wire.CodeOperationUncertain)
		require.ErrorIs(t, err, wire.CodeHistoryUnavailable)
		require.Equal(t, 1, f.happened())
		require.NoError(t, send(t.Context(), c, 0), "the lane is free")
	})
}

func TestStoreKeepsItsContextAndFailsInANewLife(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		under := wire.PartitionContext{Incarnation: 7, OwnerGeneration: 3, MetadataOp: 5}
		require.NoError(t, c.StoreOffset(t.Context(), single, part(0), 1, under))
		require.Equal(t, under, f.of(wire.CmdStoreConsumerOffset)[0].header.Context)
		f.set(func() { f.life++ })
		require.ErrorIs(t, c.StoreOffset(t.Context(), single, part(0), 1, under), wire.CodeHistoryUnavailable)
		require.Len(t, f.of(wire.CmdStoreConsumerOffset), 2, "it is not sent again")
	})
}

func TestFinalRefusalFreesTheLane(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		for _, code := range []wire.Code{
			wire.CodeStreamNameAlreadyExists, wire.CodeRequestAlreadyApplied, wire.CodeRequestTooOld, wire.CodeUnauthorized,
		} {
			f.next(wire.CmdCreateStream, refuse(code))
			err := c.MakeStream(t.Context(), "s")
			require.ErrorIs(t, err, code)
			require.False(t, client.Retryable(err))
			require.EqualError(t, err, "iggy: stream.create at fake://server: "+code.String()+" ("+number(code)+")")
		}
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestSessionThatTheServerForgotIsMadeAnewOnce(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.forget()
		require.NoError(t, c.MakeStream(t.Context(), "s"))
		require.Len(t, f.of(wire.CmdLoginRegister), 2)
		always := refuse(wire.CodeUnauthenticated)
		f.next(wire.CmdCreateStream, always, always, always)
		require.ErrorIs(t, c.MakeStream(t.Context(), "s"), wire.CodeUnauthenticated)
		require.Len(t, f.of(wire.CmdCreateStream), 4)
	})
}

// Each row is one of the table of outcomes: a write whose outcome is uncertain, what is refused and what goes on.
func TestUncertainWriteBlocksItsLaneUntilItIsResolved(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for name, never := range map[string]answer{"no reply": silent, "57 for ever": nil} {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				connected(t, func(t *testing.T, f *fake, c *client.Client) {
					if never != nil {
						f.next(kind.command, never)
					} else {
						for range 100 {
							f.next(kind.command, inDoubt)
						}
					}
					start := time.Now()
					err := kind.do(t.Context(), c)
					require.Equal(t, 30*time.Second, time.Since(start))
					operation := uncertain(t, err)
					f.set(func() { f.script = map[wire.Command][]answer{} })

					err = kind.do(t.Context(), c)
					require.ErrorIs(t, err, wire.CodeLaneBlocked)
					require.Equal(t, operation, operationOf(t, err))
					require.Equal(t, 30*time.Second, time.Since(start), "at once")

					_, err = c.ResolveOperation(t.Context(), operation)
					require.NoError(t, err)
					require.Equal(t, 1, f.happened())
					_, err = c.ResolveOperation(t.Context(), operation)
					require.NoError(t, err, "it is remembered")
					require.NoError(t, kind.do(t.Context(), c))
					require.Equal(t, 2, f.happened())
					require.ErrorIs(t, c.AbandonOperation(operation), wire.CodeOperationNotRetained)
				})
			})
		}
	}
}

func TestResolvedOperationTellsWhatTheServerRefused(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, deaf, refuse(wire.CodeStreamNameAlreadyExists))
		operation := uncertain(t, c.MakeStream(t.Context(), "s"))
		for range 2 {
			_, err := c.ResolveOperation(t.Context(), operation)
			require.ErrorIs(t, err, wire.CodeStreamNameAlreadyExists)
		}
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestResolvingMayEndWithoutAnAnswer(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, deaf, deaf)
		operation := uncertain(t, c.MakeStream(t.Context(), "s"))
		first := async(func() error { _, err := c.ResolveOperation(within(t, time.Second), operation); return err })
		synctest.Wait()
		second := async(func() error { _, err := c.ResolveOperation(t.Context(), operation); return err })
		require.Equal(t, operation, uncertain(t, <-first))
		require.NoError(t, <-second)
		require.Equal(t, 1, f.happened())
	})
}

func TestCallerWhoGivesUpLeavesTheWriteInItsLane(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, silent)
		ctx, cancel := context.WithCancel(t.Context())
		done := async(func() error { return c.MakeStream(ctx, "s") })
		synctest.Wait()
		cancel()
		err := <-done
		require.ErrorIs(t, err, context.Canceled)
		operation := uncertain(t, err)
		require.ErrorIs(t, c.MakeStream(t.Context(), "s"), wire.CodeLaneBlocked)
		_, err = c.ResolveOperation(t.Context(), operation)
		require.NoError(t, err)
		require.Equal(t, 1, f.happened())
	})
}

func TestNewSessionDropsWhatWasKept(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, silent)
		operation := uncertain(t, c.MakeStream(t.Context(), "s"))
		f.forget()
		f.cut()
		synctest.Wait()
		time.Sleep(5 * time.Second)
		_, err := c.ResolveOperation(t.Context(), operation)
		require.ErrorIs(t, err, wire.CodeOperationNotRetained)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestWriteThatMayHaveHappenedInALostSessionIsUncertain(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, func(conn *fakeConn, r *asked) (transport.Frame, error) {
			f.forget()
			return ignored(conn, r)
		})
		err := c.MakeStream(t.Context(), "s")
		uncertain(t, err)
		require.ErrorIs(t, err, client.ErrSessionReplaced)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

func TestWriteThatSurelyWasNotSentGoesToTheNewSession(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdSendMessages, func(conn *fakeConn, r *asked) (transport.Frame, error) {
			f.forget()
			return unsent(conn, r)
		})
		require.NoError(t, send(t.Context(), c, 0))
		frames := f.of(wire.CmdSendMessages)
		require.NotEqual(t, frames[0].header.Client, frames[1].header.Client)
		require.Less(t, frames[0].header.Request, frames[1].header.Request)
		require.Equal(t, frames[0].body, frames[1].body)
	})
}

func TestBusyLaneIsRefusedInTheEndWithoutANumber(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, deaf)
		first := async(func() error { return c.MakeStream(t.Context(), "a") })
		synctest.Wait()
		require.ErrorIs(t, c.MakeStream(within(t, time.Second), "b"), wire.CodeTransientNotAccepted)
		require.Len(t, f.of(wire.CmdCreateStream), 1)
		third := async(func() error { return c.MakeStream(t.Context(), "c") })
		operation := uncertain(t, <-first)
		err := <-third
		require.ErrorIs(t, err, wire.CodeLaneBlocked, "who waits learns it when the lane is blocked")
		require.Equal(t, operation, operationOf(t, err))
	})
}

func TestWritesOfALaneGoInOrder(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdSendMessages, lost)
		var all []<-chan error
		for i := range uint64(10) {
			message := []wire.Message{{ID: wire.Uint128{Lo: i}}}
			all = append(all, async(func() error { _, _, err := c.Send(t.Context(), part(0), nil, message); return err }))
			synctest.Wait()
		}
		for _, done := range all {
			require.NoError(t, <-done)
		}
		frames := f.of(wire.CmdSendMessages)
		require.Len(t, frames, 11)
		for i := 2; i < len(frames); i++ {
			require.Greater(t, frames[i].header.Request, frames[i-1].header.Request)
		}
	})
}

func TestPendingWritesAreBounded(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdSendMessages, deaf)
		first := async(func() error { return send(t.Context(), c, 0) })
		synctest.Wait()
		require.ErrorIs(t, send(within(t, time.Second), c, 1), wire.CodeTransientNotAccepted)
		operation := uncertain(t, <-first)
		require.ErrorIs(t, send(within(t, time.Second), c, 1), wire.CodeTransientNotAccepted, "what is kept counts")
		require.NoError(t, c.AbandonOperation(operation))
		require.NoError(t, send(t.Context(), c, 1))
	}, client.Pending(1, 1))
}

func TestFrameThatTheLinkRefusesIsAnError(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		f.next(wire.CmdCreateStream, func(conn *fakeConn, _ *asked) (transport.Frame, error) {
			return nil, conn.fail(true, &transport.SizeError{Size: 2, Limit: 1})
		})
		err := c.MakeStream(t.Context(), "s")
		require.ErrorIs(t, err, wire.CodeInvalidCommand)
		require.NoError(t, c.MakeStream(t.Context(), "s"))
	})
}

// uncertain returns the operation of an error that says so.
func uncertain(t *testing.T, err error) uint64 {
	t.Helper()
	require.ErrorIs(t, err, wire.CodeOperationUncertain)
	require.False(t, client.Retryable(err))
	return operationOf(t, err)
}

func operationOf(t *testing.T, err error) uint64 {
	t.Helper()
	var e *client.Error
	require.ErrorAs(t, err, &e)
	require.NotZero(t, e.Operation)
	return e.Operation
}

func TestSendsOfABatchThatIsMade(t *testing.T) {
	connected(t, func(t *testing.T, f *fake, c *client.Client) {
		batch, err := wire.AppendBatch(nil, nil, texts(0, 3))
		require.NoError(t, err)
		at, found, err := c.SendBatch(t.Context(), part(1), 3, batch)
		require.NoError(t, err)
		require.True(t, found)
		require.NotZero(t, at.BaseOffset)
		sent := body[wire.SendMessages](t, f.of(wire.CmdSendMessages)[0])
		require.Equal(t, batch, sent.Batch)
		require.Equal(t, wire.ToPartition(1), sent.Partitioning)
		require.EqualValues(t, 3, sent.MessagesCount)
		f.next(wire.CmdSendMessages, func(c *fakeConn, r *asked) (transport.Frame, error) {
			return wire.AppendReply(nil, wire.NewReply(&r.header), nil)
		})
		_, found, err = c.SendBatch(t.Context(), part(1), 3, batch)
		require.NoError(t, err)
		require.False(t, found, "the server did not say")
		_, _, err = c.Send(t.Context(), part(1), nil, nil)
		require.ErrorIs(t, err, wire.CodeInvalidMessagesCount, "no messages")
	})
}
