package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// program builds the command.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "iggy")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func TestNothingIsMissingOrDoubledThoughAMemberIsKilled(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "late.ndjson")
	out, err := exec.CommandContext(t.Context(), program(t), "-out", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `produced +5,000 flights\nlate +1,115\ncopied +1,\d{3}, of which \d+ again.*\nmissing +0\ndoubled +0 in`, string(out))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1115, bytes.Count(text, []byte("\n")))
}

func TestWhatIsNotPossibleIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	iggy := program(t)
	for address, says := range map[string]string{
		"iggy+http://iggy:iggy@127.0.0.1:3000":                    "consumer groups need TCP, QUIC or WebSocket",
		"iggy+tcp://iggy:iggy@127.0.0.1:1?reconnection_retries=0": "connection refused",
		"http://127.0.0.1": "scheme",
	} {
		out, err := exec.CommandContext(t.Context(), iggy, "-iggy", address).CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Contains(t, string(out), says)
	}
}
