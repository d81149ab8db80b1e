package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInspectListsWhatAFolderHolds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, full("count", "a", "1", "b", "22")),
		flights(2, map[string]State{"count": {Put: entries([]string{"a", "333"}), Deleted: []string{"b"}}}), flights(3, nil))
	require.NoError(t, log.Rewind(ctx, 2))
	before := names(t, folder)

	infos, err := Inspect(ctx, folder)
	require.NoError(t, err)
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		return info.Size()
	}
	want := func(n Number, states map[string]StateInfo) Info {
		return Info{
			File: storedName(n), Number: n, Bytes: size(storedName(n)), Pipeline: "flights", Taken: taken, Base: 1,
			Shape:   []string{"sink out", "source flights", "stage count"},
			Sources: map[string]Position{"flights": {"a.ndjson": OffsetToken(int64(n), []byte("guard"))}},
			Tokens:  map[string]int{"out": 1},
			States:  states,
		}
	}
	require.Equal(t, []Info{
		want(1, map[string]StateInfo{"count": {Full: true, Put: 2, Bytes: 5}}),
		want(2, map[string]StateInfo{"count": {Put: 1, Deleted: 1, Bytes: 5}}),
		{File: asideName(3, 1), Number: 3, Bytes: size(asideName(3, 1)), SetAside: true},
	}, infos)
	require.Equal(t, before, names(t, folder), "nothing changed")
}

func TestInspectTellsWhatIsDamaged(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, twoChains()...)
	require.NoError(t, log.Close())
	edit(2, flip(-1))(t, folder)
	remove(4)(t, folder)

	infos, err := Inspect(ctx, folder)
	require.NoError(t, err)
	got := map[Number]string{}
	for _, info := range infos {
		got[info.Number] = ""
		if info.Damage != nil {
			got[info.Number] = info.Damage.Error()
		}
	}
	require.Equal(t, map[Number]string{
		1: "",
		2: "checksum does not match: truncated or overwritten",
		3: "builds on checkpoint 2, which is missing or damaged",
		5: "builds on checkpoint 4, which is missing or damaged",
		6: "builds on checkpoint 5, which is missing or damaged",
	}, got)
	require.Empty(t, infos[1].Pipeline, "of what cannot be read nothing is told")
	require.Equal(t, "flights", infos[2].Pipeline, "of what can be read everything")
}

func TestInspectOfAnotherFolderChangesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	infos, err := Inspect(ctx, folder)
	require.NoError(t, err)
	require.Empty(t, infos)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, entries, "not even a lock file")

	_, err = Inspect(ctx, filepath.Join(folder, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Stat(filepath.Join(folder, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	save(t, open(t, Dir(folder)), flights(1, nil))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Inspect(gone, folder)
	require.ErrorIs(t, err, context.Canceled)
}

func TestInspectDuringARunSeesNoDamage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, counted(1))
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := Number(2); n <= 120; n++ {
			if err := log.Save(ctx, counted(n)); err != nil {
				t.Error(err)
			}
		}
	})
	for seen := Number(0); seen < 120; {
		infos, err := Inspect(ctx, folder)
		if !assert.NoError(t, err) || !assert.NotEmpty(t, infos) {
			break
		}
		for _, info := range infos {
			assert.NoError(t, info.Damage)
		}
		now := infos[len(infos)-1].Number
		if !assert.GreaterOrEqual(t, now, seen) {
			break
		}
		seen = now
	}
	wg.Wait()
}

// pruned is a folder from which a run takes checkpoints away once they were listed.
type pruned struct {
	*memFolder
	takes []Number
}

func (p *pruned) Open(name string) (fs.File, error) {
	f, err := p.memFolder.Open(name)
	if name == "." {
		for _, n := range p.takes {
			delete(p.live, storedName(n))
		}
		p.takes = nil
	}
	return f, err
}

func TestInspectLeavesOutWhatARunRemovesMeanwhile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		takes, want []Number
	}{
		{"a chain", []Number{1, 2, 3}, []Number{4, 5, 6}},
		{"the end of a chain", []Number{2, 3}, []Number{1, 4, 5, 6}},
		{"the newest chain", []Number{4, 5, 6}, []Number{1, 2, 3}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m, _ := scenario{saved: twoChains()}.arrange(t)
			infos, err := inspect(ctx, &pruned{memFolder: m, takes: test.takes})
			require.NoError(t, err)
			var got []Number
			for _, info := range infos {
				got = append(got, info.Number)
				require.NoError(t, info.Damage)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// restless is a folder whose only checkpoint is replaced whenever it was listed.
type restless struct {
	*memFolder
	n Number
}

func (r *restless) Open(name string) (fs.File, error) {
	f, err := r.memFolder.Open(name)
	if name == "." {
		r.live[storedName(r.n+1)] = r.live[storedName(r.n)]
		delete(r.live, storedName(r.n))
		r.n++
	}
	return f, err
}

func TestInspectGivesUpOnAFolderThatNeverRests(t *testing.T) {
	t.Parallel()
	m, _ := scenario{saved: []*Checkpoint{flights(1, nil)}}.arrange(t)
	infos, err := inspect(ctx, &restless{memFolder: m, n: 1})
	require.NoError(t, err)
	require.Empty(t, infos)
}

func TestResetRemovesCheckpointsAndNothingElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, nil), flights(2, nil), flights(3, nil))
	require.NoError(t, log.Rewind(ctx, 2))
	put(t, folder, "notes", "mine")
	put(t, folder, storedName(4)+tempSuffix, "half")

	_, err := Reset(ctx, folder)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, log.Close())
	removed, err := Reset(ctx, folder)
	require.NoError(t, err)
	require.Equal(t, []string{storedName(4) + tempSuffix, asideName(3, 1), storedName(1), storedName(2)}, removed)
	require.Equal(t, []string{"notes"}, names(t, folder))

	removed, err = Reset(ctx, folder)
	require.NoError(t, err)
	require.Empty(t, removed)
	again, err := Dir(folder).Open(ctx, "orders")
	require.NoError(t, err, "the folder belongs to nobody now")
	require.NoError(t, again.Close())
}

func TestResetOfAFolderWithoutCheckpointsLeavesItAlone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	removed, err := Reset(ctx, folder)
	require.NoError(t, err)
	require.Empty(t, removed)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, entries, "not even a lock file")
	_, err = Reset(ctx, filepath.Join(folder, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join(folder, "absent"))

	put(t, folder, "file", "")
	_, err = Reset(ctx, filepath.Join(folder, "file"))
	require.ErrorContains(t, err, "not a directory")
	_, err = Inspect(ctx, filepath.Join(folder, "file"))
	require.ErrorContains(t, err, "not a directory")
}

func TestResetThatIsCutShortBringsNoOlderCheckpointIntoForce(t *testing.T) {
	t.Parallel()
	for name, saved := range map[string][]*Checkpoint{
		"chains": twoChains(), "alone": {flights(4, nil), flights(5, nil), flights(6, nil)},
	} {
		for k := 0; ; k++ {
			m, _ := scenario{saved: saved}.arrange(t)
			m.crashAt(k)
			_, err := reset(ctx, m)
			done := len(m.ops) <= k
			require.Equal(t, done, err == nil)
			for _, l := range losses(lossSeeds) {
				requireSixOrNothing(t, m.after(l), done, name)
			}
			if done {
				break
			}
		}
	}
}

// requireSixOrNothing finds checkpoint 6, be it damaged, or none at all.
func requireSixOrNothing(t *testing.T, m *memFolder, done bool, name string) {
	t.Helper()
	c, err := open(t, m.store()).Load(ctx, 0)
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		require.Equal(t, Number(6), damaged.Number, name)
	case err != nil:
		require.ErrorIs(t, err, ErrNotFound)
		return
	default:
		require.Equal(t, Number(6), c.Number, name)
	}
	require.False(t, done, "what is done stays done")
}

func TestResetEndsWithItsContext(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, nil))
	require.NoError(t, log.Close())
	gone, cancel := context.WithCancel(ctx)
	cancel()
	removed, err := Reset(gone, folder)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, removed)
	require.Equal(t, flights(1, nil), newest(t, open(t, Dir(folder))))
}
