package disk

import (
	"log/slog"
	"time"
)

// Fsync says when what is written is made durable, which the operating system else does when it likes. Whatever it is,
// nothing that was acknowledged is lost when the process is killed.
type Fsync time.Duration

// Two of the policies; [FsyncEvery] is the third.
const (
	// FsyncNever leaves it to the operating system. A loss of power, or a crash of the system, may take what was written
	// during the last half minute or so, and may leave damage that Open refuses.
	FsyncNever Fsync = 0
	// FsyncAlways makes each send and each change durable before it is acknowledged: what was acknowledged survives a loss of
	// power. Each waits for the disk; changes of metadata and offsets wait one behind the other.
	FsyncAlways Fsync = -1
)

// FsyncEvery makes durable what was written at intervals of d, at least a millisecond: a loss of power may take what was
// written since.
func FsyncEvery(d time.Duration) Fsync { return Fsync(max(d, time.Millisecond)) }

// defaultOpenFiles is how many files of messages are open at a time.
const defaultOpenFiles = 256

// Options say how a store keeps things. The zero value works.
type Options struct {
	// Fsync says when what is written is made durable. Default: [FsyncNever].
	Fsync Fsync
	// Logger is told what was cut or removed at Open, and errors of writing. Default: [slog.Default].
	Logger *slog.Logger
	// OpenFiles is how many files of messages are open at a time; more are if so many are at work. Default: 256. Few make
	// those open and close often who use many partitions.
	OpenFiles int

	open opener // default: that of the system
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OpenFiles <= 0 {
		o.OpenFiles = defaultOpenFiles
	}
	if o.open == nil {
		o.open = openFile
	}
	return o
}
