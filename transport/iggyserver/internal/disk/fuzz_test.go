package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

// FuzzOpen opens a folder whose files hold anything: it is read up to where it is whole, or refused, and then read again
// the same way.
func FuzzOpen(f *testing.F) {
	journal := appendRecord(appendHead(nil, 1), []broker.Change{{Key: "a", Value: []byte("b")}, {Key: "c"}})
	batch := wiretest.Stored(f, 0, 1, 2)
	f.Add(journal, batch)
	f.Add(journal[:len(journal)-1], batch[:len(batch)-1])
	f.Add([]byte{}, append(batch, wiretest.Stored(f, 2, 1, 1)...))
	f.Fuzz(func(t *testing.T, journal, segment []byte) {
		dir := t.TempDir()
		folder := filepath.Join(dir, partitionsName, "1.2.0.77")
		require.NoError(t, os.MkdirAll(folder, dirMode))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "journal"), journal, fileMode))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "00000000000000000000.log"), segment, fileMode))
		w, err := tryStart(dir, 1<<20, quiet())
		var damage *DamageError
		if errors.As(err, &damage) {
			return
		}
		require.NoError(t, err)
		span, found := w.log.Span(), entries(t, w.Store)
		require.LessOrEqual(t, span.Bytes, uint64(len(segment)))
		w.stop(t)
		w = start(t, dir, 1<<20, quiet())
		defer w.stop(t)
		require.Equal(t, span, w.log.Span())
		require.Equal(t, found, entries(t, w.Store))
	})
}
