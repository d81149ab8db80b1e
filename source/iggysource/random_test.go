package iggysource

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

var (
	rounds   = flag.Int("iggysource.rounds", 4, "how often a member joins or leaves in the random tests")
	restarts = flag.Int("iggysource.restarts", 3, "how often the server is started again, and connections are cut, in the random tests")
)

// tally counts how often each message was handled.
type tally struct {
	mu      sync.Mutex
	changed *sync.Cond
	seen    map[string]int // guarded by mu
}

func newTally() *tally {
	y := &tally{seen: map[string]int{}}
	y.changed = sync.NewCond(&y.mu)
	return y
}

func (y *tally) add(payload string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.seen[payload]++
	y.changed.Broadcast()
}

// await waits until so many messages were handled.
func (y *tally) await(n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for len(y.seen) < n {
		y.changed.Wait()
	}
}

// repeated returns how many messages were handled more than once.
func (y *tally) repeated() (n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, times := range y.seen {
		if times > 1 {
			n++
		}
	}
	return n
}

// flow sends messages to a topic as fast as they are handled.
type flow struct {
	w          *world
	partitions uint32
	sent       int // to each partition
	handled    *tally
}

// more sends some messages and waits until all were handled.
func (o *flow) more() {
	for p := range o.partitions {
		o.w.send(p, o.sent, o.sent+100)
	}
	o.sent += 100
	o.handled.await(o.sent * int(o.partitions))
}

// until goes on until something has happened.
func (o *flow) until(happened func() bool) {
	for o.more(); !happened(); {
		o.more()
	}
}

// check wants that nothing was repeated and everything is committed.
func (o *flow) check(t *testing.T) {
	t.Helper()
	require.Zero(t, o.handled.repeated())
	for p := range o.partitions {
		require.Equal(t, o.sent-1, o.w.stored(wire.ConsumerGroup, p))
	}
}

// member is a consumer at work.
type member struct {
	c     *Consumer
	leave context.CancelFunc
	left  chan struct{}
}

// join starts a member that handles and commits messages until it is to leave.
func (o *flow) join(t *testing.T) *member {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m := &member{o.w.consumer(dial.TCP, Group(), Count(10)), cancel, make(chan struct{})}
	go func() {
		defer close(m.left)
		for got, err := range m.c.Messages(ctx) {
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
				break
			}
			o.handled.add(string(got.Payload))
			assert.NoError(t, m.c.Commit(context.Background(), got.Checkpoint()))
		}
		assert.NoError(t, m.c.Shutdown(context.Background()))
	}()
	return m
}

// Members come and go at random: nothing is missing, and as each leaves cleanly and commits what it has handled, nothing is
// repeated.
func TestMembersThatComeAndGoLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	o := &flow{w: serve(t, 5), partitions: 5, handled: newTally()}
	members := []*member{o.join(t)}
	all := slices.Clone(members)
	for range *rounds {
		if n := len(members); n == 5 || n > 1 && random.IntN(3) == 0 {
			at := random.IntN(n)
			members[at].leave()
			members = slices.Delete(members, at, at+1)
			o.more()
			continue
		}
		m := o.join(t)
		members, all = append(members, m), append(all, m)
		if random.IntN(3) > 0 { // else the next one joins or leaves while partitions move
			o.until(func() bool { return len(m.c.Partitions()) > 0 })
		}
	}
	o.more()
	for _, m := range all {
		m.leave()
		<-m.left
	}
	o.check(t)
}

// The same with pipelines, whose markers commit.
func TestPipelinesThatComeAndGoLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	o := &flow{w: serve(t, 4), partitions: 4, handled: newTally()}
	start := func() (*runneltest.Run, *Consumer) {
		src, c := o.w.source(Group(), Count(10))
		p := runnel.New("member", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(100)))
		runnel.From(p, src).To(tallySink{o.handled})
		return runneltest.Start(t, p), c
	}
	stop := func(run *runneltest.Run) {
		run.RequestStop()
		require.NoError(t, run.Wait())
	}
	run, _ := start()
	for range *rounds {
		next, c := start()
		o.until(func() bool { return len(c.Partitions()) > 0 })
		stop(run)
		run = next
	}
	o.more()
	stop(run)
	o.check(t)
}

// tallySink counts what it is given.
type tallySink struct{ handled *tally }

func (s tallySink) Open(context.Context, runnel.SinkEnv) (runnel.Writer[string], error) {
	return s, nil
}
func (s tallySink) Flush(context.Context) error { return nil }
func (s tallySink) Close(context.Context) error { return nil }

func (s tallySink) Write(_ context.Context, b runnel.Batch[string]) error {
	for _, v := range b.Values() {
		s.handled.add(v)
	}
	return nil
}

// The server is started again with what it had stored, and connections are cut in the middle of answers: nothing is missing,
// and each partition keeps its order.
func TestRestartsAndCutConnectionsLoseNothing(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{"group": {Group()}, "listed": {Partitions(0, 1, 2)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const partitions, each = 3, 3000
			dir, addr := t.TempDir(), ""
			boot := func() *iggyserver.Server {
				at := iggyserver.TCP("127.0.0.1:0")
				if addr != "" {
					at = iggyserver.TCP(addr)
				}
				server, err := iggyserver.Start(context.Background(), at, iggyserver.Data(dir), iggyserver.PasswordRounds(1))
				require.NoError(t, err)
				return server
			}
			w := &world{t: t, server: boot()}
			defer func() { require.NoError(t, w.server.Close()) }()
			addr = w.server.Addr(dial.TCP)
			fast := client.Reconnect(client.Unlimited, 10*time.Millisecond, time.Millisecond)
			w.sender = w.client(dial.TCP, fast)
			_, err := w.sender.CreateStream(t.Context(), "s", client.StreamOptions{})
			require.NoError(t, err)
			_, err = w.sender.CreateTopic(t.Context(), stream, "t", partitions, client.TopicOptions{})
			require.NoError(t, err)
			for p := range uint32(partitions) {
				w.send(p, 0, each)
			}

			c := NewConsumer(w.client(dial.TCP, fast), "reader", stream, topic, append(opts, Count(50), AllowReplay())...)
			require.NoError(t, c.Init(t.Context()))
			defer func() { _ = c.Shutdown(context.Background()) }()
			repeated := readThroughFaults(t, w, c, partitions*each, boot)
			if name == "listed" {
				require.Zero(t, repeated)
			}
		})
	}
}

// readThroughFaults reads all messages, while the server is started again and connections are cut now and then. It returns how
// many came again: the members of a group are forgotten, and read on from the stored offset.
func readThroughFaults(t *testing.T, w *world, c *Consumer, want int, boot func() *iggyserver.Server) (repeated int) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	handled := newTally()
	next := map[uint32]uint64{}
	faults := 2 * *restarts
	for n := 1; len(handled.seen) < want; n++ {
		m := nextOf(t, c)
		require.LessOrEqual(t, m.Offset, next[m.Partition], "a message of partition %d is missing", m.Partition)
		next[m.Partition] = m.Offset + 1
		require.Equal(t, fmt.Sprintf("%d:%d", m.Partition, m.Offset), string(m.Payload))
		handled.add(string(m.Payload))
		if n%100 == 0 {
			err := c.Commit(t.Context(), m.Checkpoint())
			if !errors.Is(err, wire.CodeConsumerGroupPartitionNotOwned) && !errors.Is(err, wire.CodeOperationUncertain) {
				require.NoError(t, err) // members and sessions of before are forgotten
			}
		}
		if n%(want/(2**restarts+1)) != 0 || faults == 0 {
			continue
		}
		if faults--; faults%2 == 0 {
			require.NoError(t, w.server.Close())
			w.server = boot()
			continue
		}
		w.server.Faults().Cut(2000 + random.IntN(20_000))
		w.server.Faults().Disconnect()
	}
	return handled.repeated()
}
