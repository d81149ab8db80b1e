package filesource

import (
	"context"
	"path/filepath"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// Rotation may copy a log, compressed or not, before it removes or cuts it. The copy is a new file with content that
// was read already. It is known by a name that adds to that of the log (app.log, app.log.1.gz) and by its content: the
// same first bytes, and the same bytes before the offset. Once the log itself is gone or cut, the copy continues it at
// its offset; until then it waits. What only looks like a copy is read from its start after [Grace].

// verdict is whether a file is a copy.
type verdict int

const (
	copyNone      verdict = iota // it is not
	copyUndecided                // it may be, or become one
	copyContinues                // it is the copy of a file that is gone
)

// likeness is how much a file is like another.
type likeness int

const (
	unlike likeness = iota
	beginsLike
	same
)

// doubt is since when a file looks as it does while it may be a copy.
type doubt struct {
	since         time.Time
	size, changed int64
}

// copyOf returns the file that a new one is a copy of.
func (s *feed) copyOf(at found) (*file, verdict, error) {
	for n := len(at.path) - 1; n > len(filepath.Dir(at.path)); n-- {
		t := s.tracks[at.path[:n]]
		if t == nil || !t.extends(at.path) {
			continue
		}
		for i := len(t.files) - 1; i >= 0; i-- {
			original := t.files[i]
			if original.offset == 0 || (original.id == at.id && original.state != stateGone) {
				continue
			}
			like, err := s.compare(at, original)
			switch {
			case err != nil:
				return nil, copyNone, err
			case like == same && original.state == stateGone:
				return original, copyContinues, nil
			case like == same && original.leaving, like != unlike && s.doubted(at):
				return nil, copyUndecided, nil
			}
		}
	}
	return nil, copyNone, nil
}

// doubted says whether a file that may be a copy changed within the time that rotation is given.
func (s *feed) doubted(at found) bool {
	d, ok := s.doubtful[at.id]
	if !ok || d.size != at.size || d.changed != at.changed {
		d = doubt{s.scanned, at.size, at.changed}
		s.doubtful[at.id] = d
	}
	return s.scanned.Sub(d.since) < s.grace
}

// compare says how much a file is like one that was read.
func (s *feed) compare(at found, original *file) (likeness, error) {
	h, err := fileconn.Open(s.fsys, at.path)
	if absent(err) {
		return unlike, nil
	}
	if err != nil {
		return unlike, err
	}
	defer h.Close()
	packing, err := detect(h)
	if err != nil {
		return unlike, err
	}
	like, err := s.compareContent(h, packing, original.mark)
	if packing != fileconn.PackNone && err != nil {
		return beginsLike, nil // an archive that is being written
	}
	return like, err
}

func (s *feed) compareContent(h fileconn.File, packing fileconn.Packing, m mark) (likeness, error) {
	m.member = fileconn.Member{} // of another file
	var p fingerprint
	if ok, err := sameHead(h, packing, &m, &p); !ok || err != nil {
		return unlike, err
	}
	content, _, err := resume(h, packing, &m, func() error { return s.stopped(context.Background()) })
	if content == nil || err != nil {
		return beginsLike, err
	}
	content.close()
	return same, nil
}

// adopt lets a copy take the place of its original; leaving says that the pattern does not lead to it.
func (s *feed) adopt(original *file, at found, leaving bool) error {
	packing, err := s.packingOf(at.path)
	if err != nil {
		return err
	}
	t := original.track
	f := t.add(at)
	number := f.number
	f.mark = original.mark
	f.number, f.id, f.size, f.changed = number, at.id, at.size, at.changed
	f.packed = packing != fileconn.PackNone
	f.finished, f.replaced, f.gone, f.member = false, false, 0, fileconn.Member{}
	f.header, f.leaving = original.header, leaving
	t.drop(original)
	s.unlist(original)
	s.moved(t)
	return s.enlist(f, at)
}

func (s *feed) packingOf(path string) (fileconn.Packing, error) {
	h, err := fileconn.Open(s.fsys, path)
	if err != nil {
		return fileconn.PackNone, err
	}
	defer h.Close()
	return detect(h)
}
