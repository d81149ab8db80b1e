package iggyrust_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wanted is the variable of the environment that makes these tests run: they need cargo, and minutes the first time.
const wanted = "RUNNEL_IGGY_RUST"

// program is the path of the built Rust program.
type program string

// built builds the program. It skips the test if nobody wants it; who does needs cargo.
func built(t *testing.T) program {
	t.Helper()
	if os.Getenv(wanted) == "" {
		t.Skipf("%s=1 runs this test, which builds a Rust program with cargo", wanted)
	}
	target := os.Getenv("CARGO_TARGET_DIR")
	if target == "" {
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		target = filepath.Join(cache, "runnel-ci", "iggy-rust-target")
	}
	build := exec.CommandContext(t.Context(), "cargo", "build", "--locked", "--quiet", "--target-dir", target)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "cargo build: %s", out)
	return program(filepath.Join(target, "debug", "iggy-interop"))
}

// patience is how long a scenario may take. It is longer than any wait of the SDK, so that the SDK says what it waits for.
const patience = 2 * time.Minute

// command makes a call of the program. What it says on stderr is in the error of the returned function, which is to be
// called in place of Wait.
func (p program) command(t *testing.T, args ...string) (c *exec.Cmd, wait func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c = exec.CommandContext(ctx, string(p), args...)
	c.Env = append(os.Environ(), "RUST_BACKTRACE=0") // the text of an error says where
	var stderr bytes.Buffer
	c.Stderr = &stderr
	return c, func() error {
		err := c.Wait()
		if err != nil {
			t.Logf("%v:\n%s", args, stderr.String())
		}
		return err
	}
}

// run runs the program, wants that it ends well, and returns what it has printed.
func (p program) run(t *testing.T, args ...string) []byte {
	t.Helper()
	c, wait := p.command(t, args...)
	var out bytes.Buffer
	c.Stdout = &out
	require.NoError(t, c.Start())
	require.NoError(t, wait())
	return out.Bytes()
}
