package client_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

var (
	seed   = flag.Uint64("client.seed", 0, "seed of the random test; 0 takes a new one")
	rounds = flag.Int("client.sends", 25, "sends of each writer of the random test")
)

// counted are messages by what their senders were told of them.
type counted struct {
	mu    sync.Mutex
	sent  map[string]bool // true: stored; false: nobody knows
	never []string        // told that they were not stored
}

func (c *counted) note(message string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.sent[message] = true
	case errors.Is(err, wire.CodeOperationUncertain):
		c.sent[message] = false
	default:
		c.never = append(c.never, message)
	}
}

// Writers send while links are cut, replies are lost, and the server forgets all sessions. Whatever a sender was told is so:
// what is stored is there once, and nothing is there twice. The whole is run with -client.sends=10000; a seed that failed is
// run again with -client.seed.
func TestNoMessageIsStoredTwiceWhateverIsLost(t *testing.T) {
	t.Parallel()
	seed := *seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-client.seed=%d", seed)
	for _, protocol := range []dial.Protocol{dial.TCP, dial.WebSocket, dial.QUIC} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			sendThroughTrouble(t, protocol, seed)
		})
	}
}

func sendThroughTrouble(t *testing.T, protocol dial.Protocol, seed uint64) {
	const partitions, writers = 3, 6
	server, c := serveOver(t, protocol, partitions, atOnce, client.Timeout(500*time.Millisecond))
	count := &counted{sent: map[string]bool{}}
	var all sync.WaitGroup
	var step atomic.Uint64
	for w := range writers {
		random := rand.New(rand.NewPCG(seed, uint64(w)))
		all.Go(func() {
			for i := range *rounds {
				trouble(random, server.Faults(), step.Add(1))
				message := fmt.Sprintf("writer %d, message %d", w, i)
				count.note(message, sendOnce(t, c, uint32(random.IntN(partitions)), message))
			}
		})
	}
	all.Wait()
	found := map[string]int{}
	reader := connect(t, server)
	for p := range uint32(partitions) {
		for _, message := range everything(t, reader, p) {
			found[message]++
		}
	}
	uncertain := 0
	for message, stored := range count.sent {
		if stored {
			require.Equal(t, 1, found[message], message)
		} else {
			uncertain++
			require.LessOrEqual(t, found[message], 1, message)
		}
	}
	for _, message := range count.never {
		require.Zero(t, found[message], message)
	}
	t.Logf("%d stored or uncertain, of these %d uncertain; %d refused", len(count.sent), uncertain, len(count.never))
}

// trouble makes the server do something now and then.
func trouble(random *rand.Rand, f *iggyserver.Faults, step uint64) {
	const command = wire.CmdSendMessages
	switch random.IntN(40) {
	case 0:
		f.Disconnect()
	case 1, 2:
		f.CloseAfter(command, 1+random.IntN(3))
	case 3, 4:
		f.CloseBefore(command, 1+random.IntN(3))
	case 5:
		f.DropReply(command, 1)
	case 6:
		f.LeaveInDoubt(command, 1)
	case 7:
		f.Refuse(command, 1, wire.CodeTransientNotAccepted)
	case 8:
		f.EvictAll(wire.EvictStaleClient)
	case 9:
		f.CloseAfter(wire.CmdBindSession, 1)
	case 10:
		f.Refuse(command, 1, wire.CodeLifecycleBusy)
	case 11:
		if step%3 == 0 {
			f.ForgetSessions()
		}
	}
}

// sendOnce sends a message until its outcome is known, or nobody can know it.
func sendOnce(t *testing.T, c *client.Client, partition uint32, message string) error {
	for {
		_, _, err := c.Send(t.Context(), part(partition), nil, []wire.Message{{Payload: []byte(message)}})
		switch {
		case client.Retryable(err):
			continue
		case errors.Is(err, wire.CodeLaneBlocked):
			settle(t, c, err)
			continue
		case errors.Is(err, wire.CodeOperationUncertain):
			return settle(t, c, err)
		}
		return err
	}
}

// settle finds out about the operation that an error is about.
func settle(t *testing.T, c *client.Client, why error) error {
	var e *client.Error
	if !errors.As(why, &e) {
		return why
	}
	for {
		_, err := c.ResolveOperation(t.Context(), e.Operation)
		switch {
		case errors.Is(err, wire.CodeOperationUncertain) && !errors.Is(err, client.ErrSessionReplaced):
			continue
		case errors.Is(err, wire.CodeOperationNotRetained):
			return why
		}
		return err
	}
}

// everything are the messages of a partition.
func everything(t *testing.T, c *client.Client, partition uint32) []string {
	t.Helper()
	var all []string
	for {
		polled, err := c.Poll(t.Context(), single, part(partition),
			wire.PollingStrategy{Kind: wire.FromOffset, Value: uint64(len(all))}, wire.PartitionContext{}, client.Read{})
		require.NoError(t, err)
		if polled.Count == 0 {
			return all
		}
		all = append(all, payloads(t, polled.Records)...)
	}
}
