package checkpoint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The test binary starts itself again as another process: roleVar says what that does, in the folder of folderVar.
const (
	roleVar   = "RUNNEL_CHECKPOINT_TEST_ROLE"
	folderVar = "RUNNEL_CHECKPOINT_TEST_FOLDER"

	roleHold = "hold" // hold the lease until standard input ends
	roleSave = "save" // save checkpoints until killed, and print the number of each that is stored
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := play(role, os.Getenv(folderVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func play(role, folder string) error {
	ctx := context.Background()
	log, err := Dir(folder).Open(ctx, "flights")
	if err != nil {
		return err
	}
	if role == roleHold {
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	for n := Number(1); ; n++ {
		if err := log.Save(ctx, counted(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// counted is a checkpoint of a chain of ten, each of which sets one more entry.
func counted(n Number) *Checkpoint {
	states := changes("count", fmt.Sprint(n), "set")
	if n%10 == 1 {
		states = full("count", fmt.Sprint(n), "set")
	}
	return &Checkpoint{Pipeline: "flights", Number: n, States: states}
}

// child is the test binary in another role.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func startChild(t *testing.T, role, folder string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, folderVar+"="+folder)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	t.Cleanup(c.kill)
	return c
}

// line returns the next line that the child prints.
func (c *child) line(t *testing.T) string {
	t.Helper()
	require.True(t, c.lines.Scan(), "the child printed nothing more")
	return c.lines.Text()
}

// kill ends the child as kill -9 does, and waits for it.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
}
