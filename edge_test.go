package runnel

import (
	"context"
	"testing"

	"github.com/runnel-go/runnel/internal/engine"
	"github.com/stretchr/testify/require"
)

// keeper is a step that keeps what it is given.
type keeper struct{ rows []modelRow }

func (k *keeper) process(_ context.Context, in Batch[string]) error {
	k.rows = append(k.rows, rowsOf(in)...)
	return nil
}

func (*keeper) control(context.Context, engine.Control) error { return nil }

// A batch whose records are of several assignments loses those of the ones that were given up, and keeps the rest with
// their metadata, whether it has columns of its own or rows of another batch.
func TestRecordsOfARevokedAssignmentAreTakenOutOfABatch(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		m := newMaker(seed)
		var values []string
		var meta []Meta
		for range 1 + m.IntN(8) {
			values, meta = append(values, m.value()), append(meta, m.meta())
		}
		b := NewBatch(values, meta)
		if m.coin() {
			b, _ = m.pick(b, rowsOf(b))
		}
		m.owners[0].Revoke()
		var want []modelRow
		for i, row := range rowsOf(b) {
			if b.Meta(i).Origin.assignment != m.owners[0] {
				want = append(want, row)
			}
		}
		var got keeper
		dropped, err := passOwned(t.Context(), b, &got)
		require.NoError(t, err)
		require.Equal(t, want, got.rows, "seed %d", seed)
		require.Equal(t, b.Len()-len(want), dropped, "seed %d", seed)
	}
}

func TestHeadersAreFoundByName(t *testing.T) {
	t.Parallel()
	h := Headers{{"a", []byte("1")}, {"b", nil}, {"a", []byte("2")}}
	value, ok := h.Get("a")
	require.Equal(t, "2", string(value), "the last of a name")
	require.True(t, ok)
	value, ok = h.Get("b")
	require.Nil(t, value)
	require.True(t, ok)
	_, ok = h.Get("A")
	require.False(t, ok, "names are told apart by case")
	require.Equal(t, [][]byte{[]byte("1"), []byte("2")}, h.Values("a"))
	require.Nil(t, h.Values("c"))
}

// An entry that was put and deleted in one snapshot is gone, and the chain learns of one that was there before.
func TestSnapshotForgetsWhatIsDeleted(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"full": true, "changes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot{}
			s.state.Full = full
			s.Put([]byte("a"), []byte("1"))
			s.Put([]byte("b"), []byte("2"))
			s.Delete([]byte("a"))
			s.Delete([]byte("before"))
			require.Equal(t, map[string][]byte{"b": []byte("2")}, s.state.Put)
			if full {
				require.Empty(t, s.state.Deleted)
			} else {
				require.Equal(t, []string{"a", "before"}, s.state.Deleted)
			}
		})
	}
}
