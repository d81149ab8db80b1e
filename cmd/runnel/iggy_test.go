package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
)

// greeted reads what the server says once it listens: the connection strings.
func greeted(t *testing.T, out io.Reader) []string {
	t.Helper()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Regexp(t, `^Iggy server, in .+\. Connect to$`, lines.Text())
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

// serve runs the command in this process until it has said where it listens.
func serve(t *testing.T, args ...string) (addresses []string) {
	t.Helper()
	return serveAnd(t, args, func([]string) {})
}

// serveAnd runs the command in this process until the test has done what it wants with the addresses.
func serveAnd(t *testing.T, args []string, use func(addresses []string)) (addresses []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- root().execute(ctx, append([]string{"iggy", "serve"}, args...), console{strings.NewReader(""), in, io.Discard})
		in.Close()
	}()
	addresses = greeted(t, out)
	use(addresses)
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

func TestServeReadsThePasswordFromAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("secret\r\nnot this\n"), 0o600))
	addresses := serveAnd(t, []string{"--tcp", "127.0.0.1:0", "--password-file", file}, func(addresses []string) {
		c, err := dial.Client(strings.Replace(addresses[0], "<password>", "secret", 1))
		require.NoError(t, err)
		require.NoError(t, c.Connect(t.Context()))
		require.NoError(t, c.Shutdown(t.Context()))
	})
	require.Contains(t, addresses[0], "<password>")
}

func TestServeWithACertificateTakesTLSOnly(t *testing.T) {
	t.Parallel()
	cert, key := certificateFiles(t)
	serveAnd(t, []string{"--tcp", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key}, func(addresses []string) {
		require.True(t, strings.HasSuffix(addresses[0], "?tls=true"), addresses[0])
		c, err := dial.Client(addresses[0] + "&tls_ca_file=" + cert)
		require.NoError(t, err)
		require.NoError(t, c.Connect(t.Context()))
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// certificateFiles makes a certificate for 127.0.0.1 and its key.
func certificateFiles(t *testing.T) (cert, key string) {
	t.Helper()
	made, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return cert, key
}

func TestServeKeepsAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, fsync := range []string{"never", "always", "1s"} {
		require.Len(t, serve(t, "--tcp", "127.0.0.1:0", "--data", dir, "--fsync", fsync), 1)
	}
	require.FileExists(t, filepath.Join(dir, "journal"))
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
		"fsync of memory":        {[]string{"--fsync", "1s"}, exitUsage, "--fsync needs a folder (--data)"},
		"fsync now and then":     {[]string{"--data", "x", "--fsync", "often"}, exitUsage, "it is never, always, or an interval"},
		"password twice":         {[]string{"--password", "secret", "--password-file", "x"}, exitUsage, "--password and --password-file: one of them"},
		"no password file":       {[]string{"--password-file", "not-there"}, exitFailure, "--password-file: open not-there"},
		"empty password file":    {[]string{"--password-file", os.DevNull}, exitFailure, "is empty"},
		"certificate alone":      {[]string{"--tls-cert", "x"}, exitUsage, "--tls-cert and --tls-key: one needs the other"},
		"no certificate":         {[]string{"--tls-cert", "not-there", "--tls-key", "x"}, exitFailure, "--tls-cert, --tls-key: open not-there"},
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
