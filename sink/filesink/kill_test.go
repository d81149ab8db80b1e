package filesink

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/source"
)

// killedIn is the variable that makes the test binary the process to be killed, in the folder that it names.
const killedIn = "FILESINK_KILLED_IN"

const killedCount = 6000

// TestKilledProcessLosesAndRepeatsNothing kills a process that writes real files, again and again, at whatever it does a
// few checkpoints after its start.
func TestKilledProcessLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(killedIn); dir != "" {
		require.NoError(t, killedPipeline(dir))
		return
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	lives := 1
	for ; killAfter(t, dir, 1+random.IntN(3)); lives++ {
	}
	require.Greater(t, lives, 2)

	var want, many strings.Builder
	for n := range killedCount {
		fmt.Fprintln(&want, n)
	}
	require.Equal(t, want.String(), unpacked(t, fileconn.OS{}, filepath.Join(dir, "one.gz")))
	files, err := filepath.Glob(filepath.Join(dir, "many-*"))
	require.NoError(t, err)
	for _, name := range files {
		many.WriteString(unpacked(t, fileconn.OS{}, name))
	}
	require.Equal(t, want.String(), many.String())
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// killAfter runs the process until it has reported some checkpoints, and says whether it was killed before its end.
func killAfter(t *testing.T, dir string, checkpoints int) bool {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledProcessLosesAndRepeatsNothing$")
	child.Env = append(os.Environ(), killedIn+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	killed := false
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if checkpoints--; checkpoints == 0 {
			killed = true
			require.NoError(t, child.Process.Kill())
		}
	}
	if err := child.Wait(); !killed {
		require.NoError(t, err, "%s", &text)
	}
	return killed
}

// killedPipeline prints a line at each checkpoint.
func killedPipeline(dir string) error {
	p := runnel.New("killed", runnel.MaxBatch(50),
		runnel.Checkpoint(checkpoint.Dir(filepath.Join(dir, "state")), checkpoint.EveryRecords(250)),
		runnel.OnCheckpoint(func(c checkpoint.Checkpoint) { fmt.Println("checkpoint", c.Number) }))
	numbers := runnel.From(p, source.Generate(killedCount, func(i int64) int64 { return i }))
	numbers.To(NDJSON[int64](filepath.Join(dir, "one.gz")), runnel.Name("one"))
	numbers.To(NDJSON[int64](filepath.Join(dir, "many-%04d.zst"), RollRecords(400)), runnel.Name("many"))
	return p.Run(context.Background())
}
