package filesink

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// TestWhatSomebodyElseDoesToTheFileFailsTheCheckpoint: records that were taken away are not acknowledged.
func TestWhatSomebodyElseDoesToTheFileFailsTheCheckpoint(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, name := range []string{"o", "o-%d"} {
		file, opts := "o", []Option(nil)
		if name != "o" {
			file, opts = ".o-1.part", []Option{RollRecords(100)}
		}
		for _, tc := range []struct {
			name, want string
			change     func(t *testing.T, mem *faultfs.Mem)
		}{
			{"removed", "it is gone", func(t *testing.T, mem *faultfs.Mem) { require.NoError(t, mem.Remove(file)) }},
			{"renamed", "it is gone", func(t *testing.T, mem *faultfs.Mem) { require.NoError(t, mem.Rename(file, "away")) }},
			{"replaced", "another one has its name", func(t *testing.T, mem *faultfs.Mem) {
				require.NoError(t, mem.Remove(file))
				put(t, mem, file, "one\ntwo\n")
			}},
			{"cut", "it has 0 bytes, 8 were written", func(t *testing.T, mem *faultfs.Mem) { require.NoError(t, mem.Truncate(file, 0)) }},
			{"written to", "it has 9 bytes, 8 were written", func(t *testing.T, mem *faultfs.Mem) {
				f, err := mem.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = f.Write([]byte("x"))
				require.NoError(t, err)
				require.NoError(t, f.Close())
			}},
		} {
			t.Run(name+" "+tc.name, func(t *testing.T) {
				t.Parallel()
				mem := faultfs.NewMem()
				w := open(t, Lines(name, append(opts, on(mem), BlockBytes(1))...), runnel.SinkEnv{})
				write(t, w, "one")
				complete(t, w, 1)
				write(t, w, "two")
				tc.change(t, mem)
				_, err := w.Prepare(ctx, 2)
				require.ErrorIs(t, err, ErrChanged)
				require.ErrorContains(t, err, tc.want)
				require.False(t, runnel.Retryable(err))
				require.NoError(t, w.Close(ctx))
				require.Zero(t, mem.OpenFiles())
			})
		}
	}
}

// TestAFinishedPartThatIsTakenAwayFailsTheCommit, while a file that has got its name may be.
func TestAFinishedPartThatIsTakenAwayFailsTheCommit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	mem := faultfs.NewMem()
	w := open(t, Lines("o-%d", on(mem), RollRecords(1)), runnel.SinkEnv{})
	write(t, w, "one")
	token, err := w.Prepare(ctx, 1)
	require.NoError(t, err)
	require.NoError(t, w.Commit(ctx, 1, token))
	require.NoError(t, mem.Remove("o-1"))
	require.NoError(t, w.Commit(ctx, 1, token))

	write(t, w, "two")
	token, err = w.Prepare(ctx, 2)
	require.NoError(t, err)
	require.NoError(t, mem.Remove(".o-2.part"))
	err = w.Commit(ctx, 2, token)
	require.ErrorIs(t, err, ErrChanged)
	require.ErrorContains(t, err, ".o-2.part is gone")
	require.NoError(t, w.Close(ctx))
}
