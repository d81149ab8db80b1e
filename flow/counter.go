package flow

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// counter counts records, and the count is state.
type counter struct{ n uint64 }

const (
	counterKey     = "count"
	counterVersion = 1 // of the stored form: a version byte and an unsigned varint
)

// errCounterState says that a stored count cannot be read.
var errCounterState = errors.New("flow: stored count")

// Snapshot writes the count.
func (c *counter) Snapshot(_ checkpoint.Number, w runnel.SnapshotWriter) error {
	w.Put([]byte(counterKey), binary.AppendUvarint([]byte{counterVersion}, c.n))
	return nil
}

// Restore reads the count.
func (c *counter) Restore(r runnel.SnapshotReader) (err error) {
	r.All(func(key, value []byte) bool {
		if string(key) == counterKey {
			c.n, err = decodeCount(value)
		}
		return err == nil
	})
	return err
}

func decodeCount(b []byte) (uint64, error) {
	if len(b) == 0 {
		return 0, fmt.Errorf("%w: is empty", errCounterState)
	}
	if b[0] != counterVersion {
		return 0, fmt.Errorf("%w: has version %d, known is %d", errCounterState, b[0], counterVersion)
	}
	n, read := binary.Uvarint(b[1:])
	if read <= 0 || read != len(b)-1 {
		return 0, fmt.Errorf("%w: is damaged", errCounterState)
	}
	return n, nil
}
