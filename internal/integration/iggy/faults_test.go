package iggy

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// quick makes a client come back soon.
func quick(t *testing.T, address string, options ...client.Option) *client.Client {
	t.Helper()
	options = append(options, client.Reconnect(client.Unlimited, 5*time.Millisecond, 10*time.Millisecond))
	c, err := dial.Client(address, options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
	return c
}

// running is a pipeline under way.
type running struct {
	stop  context.CancelFunc
	ended chan error
}

func run(t *testing.T, p *runnel.Pipeline) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- p.Run(ctx) }()
	return r
}

// awaitCopied is awaitCopied, as long as the pipeline is under way.
func (r *running) awaitCopied(t *testing.T, c *client.Client, want int) {
	t.Helper()
	for at, err := next(t.Context(), c); err != nil || total(at) < want; at, err = next(t.Context(), c) {
		select {
		case err := <-r.ended:
			require.NoError(t, err)
			require.Fail(t, "the pipeline has ended")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// end stops the pipeline and waits for its clean end.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	require.NoError(t, <-r.ended)
}

// Replies of sends are lost, late and in doubt, and connections cut at any byte. The sink is idempotent: nothing is missing,
// and nothing twice, as the pipeline never begins anew.
func TestLostRepliesAndCutConnectionsDoubleNothing(t *testing.T) {
	t.Parallel()
	server, c := connected(t)
	count := *numbers / 2
	prepare(t, c, count)
	// A send whose reply is dropped and whose link lives is known to be in doubt when its time is up.
	r := run(t, copyNumbers(quick(t, server.ConnectionString(dial.TCP), client.Timeout(500*time.Millisecond))))
	random := rand.New(rand.NewPCG(*seed, 2))
	for i := 1; i <= *kills; i++ {
		r.awaitCopied(t, c, count*i/(2*(*kills))) // in the first half, so that there are sends to fail
		select {                                  // one after the other: the sink sends a request again three times, and no more
		case <-fail(server.Faults(), random):
		case err := <-r.ended:
			require.NoError(t, err)
		case <-time.After(10 * time.Second): // all was sent already
		}
	}
	r.awaitCopied(t, c, count)
	r.end(t)
	require.Zero(t, requireCopied(t, c, count, nil))
}

// fail lets something go wrong. The channel is closed when it has.
func fail(f *iggyserver.Faults, random *rand.Rand) <-chan struct{} {
	at := 1 + random.IntN(3)
	switch random.IntN(5) {
	case 0:
		return f.DropReply(wire.CmdSendMessages, at)
	case 1:
		return f.CloseAfter(wire.CmdSendMessages, at)
	case 2:
		return f.LeaveInDoubt(wire.CmdSendMessages, at)
	case 3:
		f.Cut(random.IntN(100_000))
	default:
		f.CutRequests(random.IntN(100_000))
	}
	f.Disconnect()
	done := make(chan struct{})
	close(done)
	return done
}

// A server with a folder is closed and started anew during a run. It forgets sessions, memberships and producers, so that
// a send in doubt ends an attempt of the run, which goes on from the last checkpoint.
func TestServerThatIsStartedAnewLosesNothing(t *testing.T) {
	t.Parallel()
	options := []iggyserver.Option{iggyserver.PasswordRounds(1), iggyserver.Data(t.TempDir())}
	server, err := iggyserver.Start(t.Context(), options...)
	require.NoError(t, err)
	options = append(options, iggyserver.TCP(server.Addr(dial.TCP)))
	defer func() { _ = server.Close() }()
	address := server.ConnectionString(dial.TCP)
	c := quick(t, address)
	require.NoError(t, c.Connect(t.Context()))
	count := *numbers / 2
	prepare(t, c, count)
	r := run(t, copyNumbers(quick(t, address), runnel.Restart(100, time.Millisecond)))
	for i := 1; i <= *kills; i++ {
		r.awaitCopied(t, c, count*i/(*kills+1))
		require.NoError(t, server.Close())
		server, err = iggyserver.Start(t.Context(), options...)
		require.NoError(t, err)
	}
	r.awaitCopied(t, c, count)
	r.end(t)
	t.Log("repeated:", requireCopied(t, c, count, nil))
}

// Members come and go at random. Nothing is missing, and as all of them leave cleanly, nothing is there twice.
func TestMembersThatComeAndGoCopyEverythingOnce(t *testing.T) {
	t.Parallel()
	server, c := connected(t)
	prepare(t, c, *numbers)
	random := rand.New(rand.NewPCG(*seed, 3))
	member := func() *running {
		return run(t, copyDecoded(quick(t, server.ConnectionString(dial.TCP)), decodeSlowly))
	}
	members := []*running{member()}
	for i := 1; i <= *kills; i++ {
		awaitCopied(t, c, *numbers*i/(*kills+1))
		if len(members) < 2 || len(members) < 5 && random.IntN(2) == 0 {
			members = append(members, member())
			continue
		}
		leaves := random.IntN(len(members))
		members[leaves].end(t)
		members = append(members[:leaves], members[leaves+1:]...)
	}
	awaitCopied(t, c, *numbers)
	var all sync.WaitGroup
	errs := make([]error, len(members))
	for i, m := range members {
		m.stop()
		all.Go(func() { errs[i] = <-m.ended })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Zero(t, requireCopied(t, c, *numbers, nil))
}
