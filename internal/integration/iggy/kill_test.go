package iggy

import (
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

var (
	kills   = flag.Int("iggy.kills", 20, "how often a process that copies is killed, at least")
	numbers = flag.Int("iggy.numbers", 200_000, "how many messages are copied")
	seed    = flag.Uint64("iggy.seed", 1, "what moments are drawn from")
)

// copyUntilStdinEnds is what the process does that is killed.
func copyUntilStdinEnds(address string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends when the test wants it to
		cancel()
	}()
	c, err := dial.Client(address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Shutdown(context.Background()) }()
	return copyNumbers(c).Run(ctx)
}

// connected starts a server and a client of it.
func connected(t *testing.T) (*iggyserver.Server, *client.Client) {
	t.Helper()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1), iggyserver.RejoinGrace(50*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	c := quick(t, server.ConnectionString(dial.TCP))
	require.NoError(t, c.Connect(t.Context()))
	return server, c
}

// start runs the test binary as a process that copies.
func start(t *testing.T, address string) (cmd *exec.Cmd, stdin io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), copyFrom+"="+address)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, stdin
}

// A process that copies is killed at any moment, again and again. Nothing is missing, and what is there twice came after the
// last checkpoint of a process that was killed.
func TestKilledCopyLosesNothingAndRepeatsWhatCameAfterACheckpoint(t *testing.T) {
	t.Parallel()
	server, c := connected(t)
	prepare(t, c, *numbers)
	random := rand.New(rand.NewPCG(*seed, 1))
	places := [][partitions]uint64{{}}
	for killed := range *kills {
		before := total(places[len(places)-1])
		cmd, _ := start(t, server.ConnectionString(dial.TCP))
		step := (*numbers - before) / (2 * (*kills - killed))
		awaitCopied(t, c, before+1+random.IntN(max(step, 1)))
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		awaitAlone(t, c)
		at, err := next(t.Context(), c)
		require.NoError(t, err)
		places = append(places, at)
	}
	cmd, stdin := start(t, server.ConnectionString(dial.TCP))
	awaitCopied(t, c, *numbers)
	require.NoError(t, stdin.Close())
	require.NoError(t, cmd.Wait(), "a clean end")
	repeated := requireCopied(t, c, *numbers, places)
	t.Logf("%d messages, %d kills, %d repeated", *numbers, *kills, repeated)
}

// awaitCopied waits until the group has committed so many messages.
func awaitCopied(t *testing.T, c *client.Client, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		at, err := next(t.Context(), c)
		require.NoError(t, err)
		return total(at) >= want
	}, 5*time.Minute, 2*time.Millisecond)
}

// awaitAlone waits until the server has seen the end of all other clients.
func awaitAlone(t *testing.T, c *client.Client) {
	t.Helper()
	require.Eventually(t, func() bool {
		clients, err := c.GetClients(t.Context())
		require.NoError(t, err)
		return len(clients) == 1
	}, time.Minute, time.Millisecond)
}
