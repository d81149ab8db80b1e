package filesink

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// TestASinkKnowsItsOwnFileAgainBeforeTheFirstCheckpoint: another attempt of the same run takes away what the first one
// wrote, also if that could not be aborted.
func TestASinkKnowsItsOwnFileAgainBeforeTheFirstCheckpoint(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, path string
		opts       []Option
		found      map[string]string
		want       map[string]string
	}{
		{"a new file", "o", nil, nil, map[string]string{"o": "new\n"}},
		{"a file that is appended to", "o", []Option{Append()}, map[string]string{"o": "old\n"}, map[string]string{"o": "old\nnew\n"}},
		{"new numbered files", "o-%d", []Option{RollRecords(1)}, nil, map[string]string{"o-1": "new\n"}},
		{"more numbered files", "o-%d", []Option{RollRecords(1), Append()}, map[string]string{"o-4": "old\n"},
			map[string]string{"o-4": "old\n", "o-5": "new\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			mem := faultfs.NewMem()
			for name, text := range tc.found {
				put(t, mem, name, text)
			}
			s := Lines(tc.path, append(tc.opts, on(mem), BlockBytes(1))...)
			for range 3 {
				w := open(t, s, runnel.SinkEnv{})
				write(t, w, "first", "second", "third")
				closed(t, w)
				require.Contains(t, strings.Join(values(contents(t, mem)), ""), "second")
			}
			w := open(t, s, runnel.SinkEnv{})
			write(t, w, "new")
			complete(t, w, 1)
			closed(t, w)
			require.Equal(t, tc.want, contents(t, mem))
		})
	}
}

func values(m map[string]string) []string {
	var all []string
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// TestWhatIsAcknowledgedIsNotTheSinksOwnAnyMore: another run of another pipeline with the same sink value takes nothing
// away.
func TestWhatIsAcknowledgedIsNotTheSinksOwnAnyMore(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"o", "o-%d"} {
		for name, acknowledge := range map[string]func(t *testing.T, w opened[string]){
			"by a checkpoint": func(t *testing.T, w opened[string]) { complete(t, w, 1) },
			"by a flush":      func(t *testing.T, w opened[string]) { require.NoError(t, w.Flush(context.Background())) },
		} {
			mem := faultfs.NewMem()
			opts := []Option{on(mem)}
			if path != "o" {
				opts = append(opts, RollRecords(1))
			}
			s := Lines(path, opts...)
			w := open(t, s, runnel.SinkEnv{})
			write(t, w, "kept")
			acknowledge(t, w)
			closed(t, w)
			_, err := s.Open(context.Background(), runnel.SinkEnv{})
			require.ErrorIs(t, err, ErrExists, "%s, %s", path, name)
			require.Equal(t, []string{"kept\n"}, values(contents(t, mem)), "%s, %s", path, name)
		}
	}
}

func TestNamesAreDurableOnceTheirCheckpointIsCommitted(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{"synced": nil, "written": {AckWritten()}} {
		mem := faultfs.NewMem()
		w := open(t, Lines("o-%d", append(opts, on(mem), RollRecords(1))...), runnel.SinkEnv{})
		write(t, w, "one")
		complete(t, w, 1)
		require.Equal(t, []string{".o-2.part", "o-1"}, names(t, mem.Crash(0)), name)
		write(t, w, "two")
		complete(t, w, 2)
		closed(t, w)
		require.Equal(t, []string{"o-1", "o-2"}, names(t, mem.Crash(0)), name)
	}
}
