package filesource

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// leave begins to let a file go that no path of the pattern leads to any more. It is read to its end through the handle
// that is open; else it may be there by another name.
func (s *feed) leave(f *file) error {
	if !s.follow || (f.finished && f.handle == nil) {
		s.lose(f)
		return nil
	}
	f.leaving = true
	if f.handle == nil {
		if err := s.locate(f); err != nil {
			return err
		}
	}
	if f.handle == nil {
		s.lose(f)
		return nil
	}
	s.event(EventRotated, f, f.size)
	f.touched = true // it may have been written to until it was renamed
	if f.state != stateReading && f.state != stateQueued {
		s.push(f)
	}
	return nil
}

// atEnd is called when a file that is followed has no more for now.
func (s *feed) atEnd(f *file) error {
	f.cut = false
	switch {
	case f.touched && !f.packed: // perhaps behind the end that was seen
		s.pushFront(f)
	case f.leaving && (f.closing || f.packed):
		f.finished = true
		s.event(EventClosed, f, f.size)
		s.vanish(f)
	case f.leaving:
		s.pause(f)
	case f.packed:
		f.finished = true
		f.state = stateIdle
		s.closeHandle(f)
		s.moved(f.track)
	default:
		f.state = stateIdle
	}
	return nil
}

// pause lets a file wait for [Grace].
func (s *feed) pause(f *file) {
	f.state = stateWaiting
	f.deadline = s.env.Clock.Now().Add(s.grace)
	s.paused = append(s.paused, f)
}

// resumePaused queues the files whose grace is over.
func (s *feed) resumePaused() {
	now := s.env.Clock.Now()
	s.paused = slices.DeleteFunc(s.paused, func(f *file) bool {
		if f.state != stateWaiting {
			return true // queued since, by a change
		}
		if now.Before(f.deadline) {
			return false
		}
		f.closing = f.leaving
		s.push(f)
		return true
	})
}

// checkPaused queues the rotated files that were written to late. Their grace begins anew then.
func (s *feed) checkPaused() error {
	for _, f := range s.paused {
		if f.state != stateWaiting || !f.leaving {
			continue
		}
		info, err := f.handle.Stat()
		if err != nil {
			return err
		}
		if now := foundAt(f.path, info); now.size != f.size || now.changed != f.changed {
			s.push(f)
		}
	}
	return nil
}

// lose gives up a file that is not there any more.
func (s *feed) lose(f *file) {
	if !f.finished && (f.packed || f.size > f.offset) {
		s.lost = append(s.lost, f)
	}
	s.vanish(f)
}

// reportLost tells of files that were not read to their end, and that no copy was found of.
func (s *feed) reportLost() {
	for _, f := range s.lost {
		if slices.Contains(f.track.files, f) {
			s.event(EventLost, f, f.size)
		}
	}
	s.lost = s.lost[:0]
}

// vanish notes that a file is gone.
func (s *feed) vanish(f *file) {
	s.closeHandle(f)
	f.state = stateGone
	f.print = fingerprint{}
	f.gone = s.env.Clock.Now().Unix()
	f.unread = 0
	if s.byPath[f.path] == f {
		delete(s.byPath, f.path)
	}
	s.moved(f.track)
}

// replace begins a new file where one was cut, or written anew in place, or where another file has its inode.
func (s *feed) replace(f *file, now found) *file {
	t := f.track
	if !f.leaving {
		t = s.track(now.path)
	}
	next := t.add(now)
	next.handle, f.handle = f.handle, nil
	next.used, next.seen, next.leaving, next.closing = f.used, f.seen, f.leaving, f.closing
	if f.id != (fileconn.FileID{}) {
		s.byID[f.id] = next
	}
	if !f.returned {
		s.event(EventTruncated, f, now.size)
	}
	s.vanish(f)
	f.replaced = true
	s.byPath[now.path] = next
	s.moved(t)
	return next
}

// locate opens a file by its identity, whatever its name in its directory is now.
func (s *feed) locate(f *file) error {
	others, err := s.listAlike(f, func(at found) bool { return at.id == f.id })
	if err != nil || len(others) == 0 || f.id == (fileconn.FileID{}) {
		return err
	}
	h, err := fileconn.Open(s.fsys, others[0].path)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.keepHandle(f, h)
}

// missed finds the files that a track led to for a while between two scans, or while nobody looked: files that add to
// its name and were written to after the last that is known, and not after the one that is there now but for the time
// that their writers may still have them open.
func (s *feed) missed(last *file, now int64) error {
	others, err := s.rotatedSince(last)
	if err != nil {
		return err
	}
	for _, at := range others {
		original, verdict, err := s.copyOf(at)
		if err != nil {
			return err
		}
		switch {
		case verdict == copyContinues:
			err = s.adopt(original, at, true)
		case verdict == copyNone && at.changed-now <= int64(s.grace) && rotationSuffix(at.path[len(last.track.path):]):
			f := last.track.add(at)
			f.leaving = true
			err = s.enlist(f, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rotationSuffix says whether rotation gives names that end so: a number or a date behind '.', '-' or '_', or .old, and
// perhaps the name of a compression. Other files beside a log (.tmp, .bak) are none of it.
func rotationSuffix(suffix string) bool {
	for _, packed := range []string{".gz", ".zst", ".zstd"} {
		suffix = strings.TrimSuffix(suffix, packed)
	}
	if suffix == ".old" {
		return true
	}
	return len(suffix) > 1 && strings.ContainsAny(suffix[:1], ".-_") && strings.Trim(suffix, "0123456789.-_:T+Z") == "" &&
		strings.ContainsAny(suffix, "0123456789")
}

// missedCopy finds the copy that was made of a file before it was cut: it may hold more than was read.
func (s *feed) missedCopy(f *file) error {
	others, err := s.rotatedSince(f)
	if err != nil {
		return err
	}
	for _, at := range others {
		original, verdict, err := s.copyOf(at)
		if err != nil {
			return err
		}
		if verdict == copyContinues && original == f {
			return s.adopt(f, at, true)
		}
	}
	return nil
}

// rotatedSince lists files that the pattern does not lead to, in the order of their last change.
func (s *feed) rotatedSince(last *file) ([]found, error) {
	others, err := s.listAlike(last, func(at found) bool {
		known := s.byID[at.id]
		return last.track.extends(at.path) && at.changed >= last.changed && at.id != (fileconn.FileID{}) &&
			!s.matched[at.id] && (known == nil || known.state == stateGone)
	})
	slices.SortStableFunc(others, func(a, b found) int { return cmp.Compare(a.changed, b.changed) })
	return others, err
}

// listAlike lists the regular files in the directory of a file that ok accepts.
func (s *feed) listAlike(f *file, ok func(found) bool) ([]found, error) {
	dir := filepath.Dir(f.path)
	entries, err := s.fsys.ReadDir(dir)
	if absent(err) {
		return nil, nil
	}
	var files []found
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := s.fsys.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // gone since, or none of ours
		}
		if at := foundAt(path, info); ok(at) {
			files = append(files, at)
		}
	}
	return files, err
}

// nextWake returns how long there is nothing to do unless something changes.
func (s *feed) nextWake() time.Duration {
	now := s.env.Clock.Now()
	wake := s.scanNext
	for _, f := range s.paused {
		if f.deadline.Before(wake) {
			wake = f.deadline
		}
	}
	return max(0, wake.Sub(now))
}
