package filesource

import (
	"bytes"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// state is where a file stands in its life.
type state int

const (
	stateStored  state = iota // known from a position, not yet seen
	stateQueued               // to be read
	stateReading              // the cursor is on it
	stateIdle                 // at its end, looked at from time to time
	stateWaiting              // at its end until its deadline: rotated, or an archive that is not complete
	stateGone                 // not there any more, or replaced
)

// file is a file that is read or was: one mark, and what is known of it in this run.
type file struct {
	mark
	print fingerprint
	track *track
	path  string // by which it was last seen
	state state

	handle   fileconn.File // nil while it is not open
	leaving  bool          // no path of the pattern leads to it any more
	closing  bool          // leaving, and its grace is over: its end is final
	deadline time.Time     // of stateWaiting
	cut      bool          // an archive that ended in its middle
	touched  bool          // written to since the cursor was opened
	returned bool          // it was gone, and is there again unless its inode is another file's
	seen     uint64        // the scan that saw it last
	used     uint64        // counts up with each use, to close what was not used for longest
	unread   int64         // bytes of the file that are known and not read, packed

	header []byte   // the first record, where the parser wants it
	skip   *skipped // a line beyond the limit that is under way
}

// advance moves the offset over n bytes, by the first and last of them (see fingerprint.add).
func (f *file) advance(n int64, first, last []byte, lines int) {
	f.print.add(first, last)
	f.offset += n
	f.line += int64(lines)
	f.finished = false
	if f.mark.head.n < headBytes {
		f.mark.head = sumOf(f.print.head)
	}
}

// seal brings the mark up to date with what was read.
func (f *file) seal() { f.mark.tail = sumOf(f.print.tail) }

// lineOf returns the number of the line that begins at an index of data, which begins at the offset.
func (f *file) lineOf(data []byte, index int) int64 {
	return f.line + 1 + int64(bytes.Count(data[:index], []byte("\n")))
}

// track is a partition: a path, and the files that were found under it, in the order of their numbers.
type track struct {
	path   string
	assign *runnel.Assignment
	files  []*file
	last   uint64 // number given last
	dirty  bool   // its position moved
	lag    atomic.Int64
}

// maxDead bounds the files of a track that are kept for nothing but to know their copies again.
const maxDead = 8

// add makes a file of the track, found under a path.
func (t *track) add(at found) *file {
	t.last++
	f := &file{
		mark:  mark{number: t.last, id: at.id, size: at.size, changed: at.changed},
		track: t, path: at.path, unread: at.size,
	}
	t.files = append(t.files, f)
	return f
}

// newest returns the file that was found last, or nil.
func (t *track) newest() *file {
	if len(t.files) == 0 {
		return nil
	}
	return t.files[len(t.files)-1]
}

// drop takes a file off the track.
func (t *track) drop(f *file) {
	t.files = slices.DeleteFunc(t.files, func(other *file) bool { return other == f })
}

// prune drops the oldest of the files that are dead, and returns them.
func (t *track) prune() (dropped []*file) {
	dead := 0
	for i := len(t.files) - 1; i >= 0; i-- {
		f := t.files[i]
		if f.state != stateGone || !(f.finished || f.replaced) {
			continue
		}
		if dead++; dead > maxDead {
			t.drop(f)
			dropped = append(dropped, f)
		}
	}
	return dropped
}

// token returns the position of the track; nil drops it.
func (t *track) token() []byte {
	if len(t.files) == 0 {
		return nil
	}
	marks := make([]*mark, len(t.files))
	for i, f := range t.files {
		marks[i] = &f.mark
	}
	return encodeToken(marks)
}

// measure adds up what is not read yet.
func (t *track) measure() {
	var lag int64
	for _, f := range t.files {
		if f.state != stateGone {
			lag += max(0, f.unread)
		}
	}
	t.lag.Store(lag)
}

// extends says whether a path is that of a track with something added to its name, as rotation does.
func (t *track) extends(path string) bool {
	return filepath.Dir(path) == filepath.Dir(t.path) && len(path) > len(t.path) && path[:len(t.path)] == t.path
}
