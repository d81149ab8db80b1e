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
func quick(t *testing.T, address string) *client.Client {
	t.Helper()
	c, err := dial.Client(address, client.Reconnect(client.Unlimited, 5*time.Millisecond, 10*time.Millisecond))
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
	require.Eventually(t, func() bool {
		select {
		case err := <-r.ended:
			require.NoError(t, err)
			require.Fail(t, "the pipeline has ended")
		default:
		}
		at, err := next(t.Context(), c)
		return err == nil && total(at) >= want
	}, 5*time.Minute, 2*time.Millisecond)
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
	r := run(t, copyNumbers(quick(t, server.ConnectionString(dial.TCP))))
	random := rand.New(rand.NewPCG(*seed, 2))
	for i := 1; i <= 3*(*kills); i++ {
		r.awaitCopied(t, c, count*i/(3*(*kills)+1))
		f := server.Faults()
		switch random.IntN(5) {
		case 0:
			f.DropReply(wire.CmdSendMessages, 1)
			f.Disconnect()
		case 1:
			f.CloseAfter(wire.CmdSendMessages, 1+random.IntN(3))
		case 2:
			f.LeaveInDoubt(wire.CmdSendMessages, 1+random.IntN(3))
		case 3:
			f.Cut(random.IntN(100_000))
			f.Disconnect()
		case 4:
			f.CutRequests(random.IntN(100_000))
			f.Disconnect()
		}
	}
	r.awaitCopied(t, c, count)
	r.end(t)
	require.Zero(t, requireCopied(t, c, count, nil))
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
	members := []*running{run(t, copyNumbers(quick(t, server.ConnectionString(dial.TCP))))}
	for i := 1; i <= *kills; i++ {
		awaitCopied(t, c, *numbers*i/(*kills+1))
		if len(members) < 2 || len(members) < 5 && random.IntN(2) == 0 {
			members = append(members, run(t, copyNumbers(quick(t, server.ConnectionString(dial.TCP)))))
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
