package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/dial"
)

// greeted reads what the server says once it listens: the connection strings.
func greeted(t *testing.T, out io.Reader) []string {
	t.Helper()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "Iggy server, in memory. Connect to", lines.Text())
	var addresses []string
	for lines.Scan() && strings.HasPrefix(lines.Text(), "  ") {
		addresses = append(addresses, strings.TrimSpace(lines.Text()))
	}
	require.Equal(t, "Stop it with Ctrl-C.", lines.Text())
	return addresses
}

func TestServeRunsUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0], "iggy", "serve", "--tcp", "127.0.0.1:0", "--quic", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--http", "127.0.0.1:0")
		cmd.Env = append(os.Environ(), commandVar+"=1", "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING=true")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		addresses := greeted(t, out)
		require.Len(t, addresses, 4)
		for _, address := range addresses {
			config, err := dial.Parse(address)
			require.NoError(t, err)
			dialer, err := config.Dialer()
			require.NoError(t, err)
			conn, err := dialer.Dial(t.Context())
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
		require.NoError(t, cmd.Process.Signal(sig))
		require.NoError(t, cmd.Wait(), "exit code 0")
		require.Empty(t, stderr.String())
	}
}

// serve runs the command in this process until the test has looked at what it says.
func serve(t *testing.T, args ...string) (addresses []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- root().execute(ctx, append([]string{"iggy", "serve"}, args...), console{strings.NewReader(""), in, io.Discard})
		in.Close()
	}()
	addresses = greeted(t, out)
	cancel()
	require.Equal(t, exitOK, <-code)
	return addresses
}

func TestServeListensOnlyWhereItIsTold(t *testing.T) {
	t.Parallel()
	addresses := serve(t, "--ws", "127.0.0.1:0")
	require.Len(t, addresses, 1)
	require.Regexp(t, `^iggy\+ws://iggy:iggy@127\.0\.0\.1:\d+$`, addresses[0])
}

func TestServeDoesNotPrintAPasswordOfOnesOwn(t *testing.T) {
	t.Parallel()
	addresses := serve(t, "--tcp", "0.0.0.0:0", "--allow-remote", "--username", "root", "--password", "secret")
	require.Len(t, addresses, 1)
	require.Regexp(t, `^iggy\+tcp://root:<password>@127\.0\.0\.1:\d+$`, addresses[0])
}

func TestServeListensAtThePortsOfIggyUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	usage := run("", "iggy", "serve", "-h")
	require.Equal(t, exitOK, usage.code)
	for _, addr := range []string{"127.0.0.1:8090 (TCP)", "127.0.0.1:8080 (QUIC)", "127.0.0.1:8092", "127.0.0.1:3000 (HTTP)"} {
		require.Contains(t, usage.out, addr)
	}
}

func TestServeSaysWhichFlagIsWrong(t *testing.T) {
	t.Parallel()
	used, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer used.Close()
	tests := map[string]struct {
		args []string
		code int
		err  string
	}{
		"port in use":            {[]string{"--ws", used.Addr().String()}, exitFailure, "runnel iggy serve: --ws: iggy: listen " + used.Addr().String()},
		"no port":                {[]string{"--tcp", "127.0.0.1"}, exitFailure, "--tcp: address 127.0.0.1: missing port"},
		"no address":             {[]string{"--tcp", ""}, exitFailure, "--tcp: missing port"},
		"address of all":         {[]string{"--quic", ":0"}, exitUsage, "--quic: :0: other machines could reach this address, which has to be allowed (--allow-remote)"},
		"password of everybody":  {[]string{"--quic", ":0", "--allow-remote"}, exitUsage, "--allow-remote: the default password is for this machine only"},
		"password with a colon":  {[]string{"--password", "sec:ret"}, exitFailure, "credentials: one colon"},
		"argument":               {[]string{"127.0.0.1:0"}, exitUsage, "takes no argument"},
		"flag that is not there": {[]string{"--udp", "127.0.0.1:0"}, exitUsage, "-udp"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := run("", append([]string{"iggy", "serve"}, tt.args...)...)
			require.Equal(t, tt.code, got.code)
			require.Empty(t, got.out)
			require.Contains(t, got.err, tt.err)
			require.NotContains(t, got.err, "sec:ret")
		})
	}
}

func TestServeThatCannotSayWhereItListensEnds(t *testing.T) {
	t.Parallel()
	var err bytes.Buffer
	code := root().execute(t.Context(), []string{"iggy", "serve", "--tcp", "127.0.0.1:0"}, console{strings.NewReader(""), brokenPipe{}, &err})
	require.Equal(t, exitFailure, code)
	require.Contains(t, err.String(), "broken pipe")
}
