package iggysource

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
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
	mu    sync.Mutex
	seen  map[string]int
	want  int
	ready chan struct{} // closed when every message was handled
}

func newTally(want int) *tally {
	return &tally{seen: map[string]int{}, want: want, ready: make(chan struct{})}
}

func (y *tally) add(payload string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.seen[payload]++
	if y.seen[payload] == 1 && len(y.seen) == y.want {
		close(y.ready)
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

// feedTopic sends messages to each partition until ctx ends or all are there.
func (w *world) feedTopic(ctx context.Context, partitions uint32, n int) error {
	for from := 0; from < n; from += 20 {
		for p := range partitions {
			var messages []wire.Message
			for i := from; i < min(n, from+20); i++ {
				messages = append(messages, wire.Message{Payload: text(p, i)})
			}
			if _, _, err := w.sender.Send(ctx, part(p), nil, messages); err != nil {
				return err
			}
		}
	}
	return nil
}

// Members come and go at random: nothing is missing, and as each leaves cleanly and commits what it has handled, nothing is
// repeated.
func TestMembersThatComeAndGoLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const partitions, each = 5, 2000
	w := serve(t, partitions)
	handled := newTally(partitions * each)
	var producing, working sync.WaitGroup
	producing.Go(func() { assert.NoError(t, w.feedTopic(t.Context(), partitions, each)) })
	var members []context.CancelFunc
	join := func() {
		ctx, cancel := context.WithCancel(t.Context())
		c := w.consumer(dial.TCP, Group(), Count(10), Wait(100*time.Millisecond))
		members = append(members, cancel)
		working.Go(func() { w.member(ctx, c, handled) })
	}
	join()
	join()
	for range *rounds {
		wait := time.Duration(random.IntN(1200)) * time.Millisecond
		select {
		case <-time.After(wait):
		case <-t.Context().Done():
		}
		if n := len(members); n == 5 || n > 1 && random.IntN(2) == 0 {
			at := random.IntN(n)
			members[at]()
			members = append(members[:at], members[at+1:]...)
			continue
		}
		join()
	}
	producing.Wait()
	<-handled.ready
	for _, leave := range members {
		leave()
	}
	working.Wait()
	require.Zero(t, handled.repeated())
	for p := range uint32(partitions) {
		require.Equal(t, each-1, w.stored(wire.ConsumerGroup, p))
	}
}

// member handles and commits messages until ctx ends, and leaves.
func (w *world) member(ctx context.Context, c *Consumer, handled *tally) {
	t := w.t.(*testing.T) //nolint:forcetypeassert // of no benchmark
	for m, err := range c.Messages(ctx) {
		if err != nil {
			assert.ErrorIs(t, err, context.Canceled)
			break
		}
		handled.add(string(m.Payload))
		assert.NoError(t, c.Commit(context.Background(), m.Checkpoint()))
	}
	assert.NoError(t, c.Shutdown(context.Background()))
}

// The same with pipelines, whose markers commit.
func TestPipelinesThatComeAndGoLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	const partitions, each = 4, 1500
	w := serve(t, partitions)
	handled := newTally(partitions * each)
	var producing sync.WaitGroup
	producing.Go(func() { assert.NoError(t, w.feedTopic(t.Context(), partitions, each)) })
	start := func() *runneltest.Run {
		src, _ := w.source(Group(), Count(10), Wait(100*time.Millisecond))
		p := runnel.New("member", runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(100)))
		runnel.From(p, src).To(tallySink{handled})
		return runneltest.Start(t, p)
	}
	first, second := start(), start()
	for range *rounds {
		third := start()
		<-time.After(700 * time.Millisecond)
		first.RequestStop()
		require.NoError(t, first.Wait())
		first, second = second, third
	}
	producing.Wait()
	<-handled.ready
	for _, run := range []*runneltest.Run{first, second} {
		run.RequestStop()
		require.NoError(t, run.Wait())
	}
	require.Zero(t, handled.repeated())
	for p := range uint32(partitions) {
		require.Equal(t, each-1, w.stored(wire.ConsumerGroup, p))
	}
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
			require.NoError(t, w.feedTopic(t.Context(), partitions, each))

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
	handled := newTally(want)
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
