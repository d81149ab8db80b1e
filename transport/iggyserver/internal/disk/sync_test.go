package disk

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
)

func TestOnlySegmentsThatWereWrittenAreMadeDurable(t *testing.T) {
	t.Parallel()
	var syncs atomic.Int32
	var fault atomic.Pointer[error]
	options := quiet()
	options.Fsync = FsyncEvery(time.Hour)
	options.open = func(name string, flag int) (file, error) {
		f, err := openFile(name, flag)
		return slowFile{f, &syncs, &fault}, err
	}
	w := start(t, t.TempDir(), 1000, options)
	defer w.stop(t)
	made := func() int32 { // files that a sync makes durable
		before := syncs.Load()
		require.NoError(t, w.sync())
		return syncs.Load() - before
	}
	fill := func(base uint64) { require.NoError(t, w.log.Append(wiretest.Stored(t, base, 1, 10))) } // one fills a segment

	fill(0)
	fill(10)
	fill(20)
	require.EqualValues(t, 3, made())
	require.Zero(t, made())
	fill(30)
	require.EqualValues(t, 1, made(), "the others have not changed")
	require.NoError(t, w.log.Truncate(25))
	fill(25)
	require.EqualValues(t, 2, made(), "the one that was cut, and the new one")
}
