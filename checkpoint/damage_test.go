package checkpoint

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// twoChains are two chains of three.
func twoChains() []*Checkpoint {
	return []*Checkpoint{
		flights(1, full("count", "a", "1")), flights(2, changes("count", "a", "2")), flights(3, changes("count", "a", "3")),
		flights(4, full("count", "a", "4")), flights(5, changes("count", "a", "5")), flights(6, changes("count", "a", "6")),
	}
}

// encode returns the file of c behind h.
func encode(t testing.TB, h header, c *Checkpoint) []byte {
	t.Helper()
	var file bytes.Buffer
	_, err := newEncoder().file(&file, h, c)
	require.NoError(t, err)
	return file.Bytes()
}

// resum makes the sum of the header and that of the file fit again.
func resum(file []byte) []byte {
	end := preambleSize + int(binary.BigEndian.Uint32(file[len(magic)+1:]))
	binary.BigEndian.PutUint32(file[end:], crc32.Checksum(file[:end], castagnoli))
	end = len(file) - sumSize
	binary.BigEndian.PutUint32(file[end:], crc32.Checksum(file[:end], castagnoli))
	return file
}

// edit changes the file of n.
func edit(n Number, change func(file []byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		name := filepath.Join(folder, storedName(n))
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, change(file), fileMode))
	}
}

func remove(n Number) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		require.NoError(t, os.Remove(filepath.Join(folder, storedName(n))))
	}
}

func copyFile(from, to Number) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		file, err := os.ReadFile(filepath.Join(folder, storedName(from)))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, storedName(to)), file, fileMode))
	}
}

func flip(at int) func([]byte) []byte {
	return func(file []byte) []byte {
		file[(at+len(file))%len(file)] ^= 0x10
		return file
	}
}

func cut(to int) func([]byte) []byte {
	return func(file []byte) []byte { return file[:(to+len(file))%len(file)] }
}

// replace puts another checkpoint in the place of n, as if it had been saved there by another run.
func replace(t *testing.T, n Number, h header, c *Checkpoint) func(*testing.T, string) {
	h.pipeline, h.taken = "flights", taken
	file := encode(t, h, c)
	return edit(n, func([]byte) []byte { return file })
}

type damaging struct {
	name   string
	harm   func(*testing.T, string)
	place  Number // of the file that is named
	intact Number
	text   string
}

func damages(t *testing.T) []damaging {
	return []damaging{
		{"empty", edit(6, func([]byte) []byte { return nil }), 6, 5, "truncated"},
		{"cut in the magic", edit(6, cut(3)), 6, 5, "truncated"},
		{"cut in the header", edit(6, cut(preambleSize+5)), 6, 5, "truncated"},
		{"cut behind the header", edit(6, cut(preambleSize+fixedHeader+len("flights")+sumSize+2)), 6, 5, "truncated"},
		{"cut by a byte", edit(6, cut(-1)), 6, 5, "truncated"},
		{"all zero", edit(6, func(f []byte) []byte { return make([]byte, len(f)) }), 6, 5, "not a checkpoint file"},
		{"a text", edit(6, func([]byte) []byte { return []byte("a text that is long enough") }), 6, 5, "not a checkpoint"},
		{"more behind the end", edit(6, func(f []byte) []byte { return append(f, 0) }), 6, 5, "checksum"},
		{"bit of the header", edit(6, flip(preambleSize+3)), 6, 5, "checksum"},
		{"size of the header", edit(6, flip(len(magic)+1)), 6, 5, "header of"},
		{"bit of the body", edit(6, flip(-sumSize-3)), 6, 5, "checksum"},
		{"bit of the sum", edit(6, flip(-1)), 6, 5, "checksum"},
		{"later version", edit(6, func(f []byte) []byte { f[len(magic)] = 2; return resum(f) }), 6, 5, "version 2"},
		{"version zero", edit(6, func(f []byte) []byte { f[len(magic)] = 0; return resum(f) }), 6, 5, "version 0"},
		{"another number's file", copyFile(3, 6), 6, 5, "file holds checkpoint 3"},
		{"parent is missing", remove(5), 5, 4, "missing"},
		{"parent is damaged", edit(5, flip(-1)), 5, 4, "checksum"},
		{"parent has a damaged header", edit(5, cut(9)), 5, 4, "truncated"},
		{"start of the chain is missing", remove(4), 4, 3, "missing"},
		{"start of the chain is damaged", edit(4, flip(-9)), 4, 3, "checksum"},
		{"parent is another run's", replace(t, 5, header{link: link{number: 5, base: 5}}, flights(5, full("count"))), 6, 5,
			"does not continue the checkpoint 5"},
		{"changes to a state that is not there", replace(t, 4, header{link: link{number: 4, base: 4}}, flights(4, nil)), 5, 4,
			"does not continue the checkpoint 4"},
		{"states do not fit the header", replace(t, 6, header{link: link{number: 6, base: 6}}, flights(6, changes("count"))), 6, 5,
			"states do not fit"},
		{"whole newest chain", all(remove(4), edit(5, cut(20)), edit(6, cut(20))), 6, 3, "truncated"},
		{"oldest chain as well", all(remove(4), edit(2, flip(-1))), 4, 1, "missing"},
		{"everything", all(edit(1, flip(-1)), edit(4, flip(-1))), 4, 0, "checksum"},
		{"every header", all(edit(1, cut(9)), edit(2, cut(9)), edit(3, cut(9)), edit(4, cut(9)), edit(5, cut(9)), edit(6, cut(9))),
			6, 0, "truncated"},
	}
}

func all(list ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		for _, f := range list {
			f(t, folder)
		}
	}
}

func TestDamagedCheckpointIsNamedWithTheNewestIntactOne(t *testing.T) {
	t.Parallel()
	for _, test := range damages(t) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			log := open(t, Dir(folder))
			save(t, log, twoChains()...)
			require.NoError(t, log.Close())
			test.harm(t, folder)

			log = open(t, Dir(folder))
			_, err := log.Load(ctx, 0)
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged)
			require.Equal(t, Number(6), damaged.Number)
			require.Equal(t, filepath.Join(folder, storedName(test.place)), damaged.Place)
			require.Equal(t, test.intact, damaged.Intact)
			require.ErrorContains(t, damaged.Err, test.text)
			requireFallback(t, log, folder, test.intact)
		})
	}
}

// requireFallback goes on from the intact checkpoint, after which the damaged ones are out of the way, not gone.
func requireFallback(t *testing.T, log Log, folder string, intact Number) {
	t.Helper()
	var damaged *DamagedError
	require.ErrorAs(t, log.Save(ctx, flights(7, changes("count"))), &damaged, "nothing may build on it")
	require.ErrorAs(t, log.Rewind(ctx, 6), &damaged, "nor go back to it")
	before := names(t, folder)
	require.NoError(t, log.Rewind(ctx, intact))
	require.Len(t, names(t, folder), len(before))
	if intact == 0 {
		require.Nil(t, newest(t, log))
	} else {
		require.Equal(t, intact, newest(t, log).Number)
		require.Equal(t, load(t, log, intact), newest(t, log))
	}
	save(t, log, flights(intact+1, full("count")))
	require.Equal(t, intact+1, newest(t, log).Number)
}

func TestFullCheckpointMayFollowADamagedOne(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, nil), flights(2, nil))
	require.NoError(t, log.Close())
	edit(2, cut(9))(t, folder)
	log = open(t, Dir(folder))
	save(t, log, flights(3, nil))
	require.Equal(t, flights(3, nil), newest(t, log))
}

func TestFileThatVanishesDuringARunIsDamage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := open(t, Dir(folder))
	save(t, log, flights(1, nil), flights(2, nil))
	remove(2)(t, folder)
	var damaged *DamagedError
	_, err := log.Load(ctx, 0)
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, Number(1), damaged.Intact)
	require.NoError(t, log.Rewind(ctx, 1))
	require.Equal(t, flights(1, nil), newest(t, log))
}

// failingFolder has a disk that cannot read one file.
type failingFolder struct {
	*memFolder
	name string
}

func (f failingFolder) Open(name string) (fs.File, error) {
	file, err := f.memFolder.Open(name)
	if err != nil || name != f.name {
		return file, err
	}
	return failingFile{file}, nil
}

type failingFile struct{ fs.File }

func (failingFile) Read([]byte) (int, error) { return 0, syscall.EIO }

func TestFailingDiskIsNotTakenForDamage(t *testing.T) {
	t.Parallel()
	m, log := scenario{saved: twoChains()}.arrange(t)
	failing := failingFolder{m, storedName(5)}
	log.(*dirLog).files = failing
	_, err := log.Load(ctx, 0)
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, "checkpoint: load 6 from /state")
	var damaged *DamagedError
	require.NotErrorAs(t, err, &damaged, "no older checkpoint may come into force for it")

	s := m.store().(dirStore)
	s.system.open = func(string) folder { return failing }
	_, err = s.Open(ctx, "flights")
	require.ErrorIs(t, err, syscall.EIO)
}
