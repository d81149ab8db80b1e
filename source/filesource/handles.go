package filesource

import (
	"errors"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// openHandle opens a file by its path. If the path leads elsewhere and the file is followed, it is looked for, and
// given up if it cannot be found: its handle stays nil then.
func (s *feed) openHandle(f *file) error {
	s.uses++
	f.used = s.uses
	if f.handle != nil {
		return nil
	}
	s.makeRoom()
	h, err := fileconn.Open(s.fsys, f.path)
	if err == nil {
		if err = s.keepHandle(f, h); err != nil || f.handle != nil {
			return err
		}
	} else if !s.follow || !absent(err) {
		return err
	}
	f.leaving = true
	if err := s.locate(f); err != nil {
		return err
	}
	if f.handle == nil {
		s.lose(f)
	}
	return nil
}

// keepHandle gives a file its handle, unless that is of another file.
func (s *feed) keepHandle(f *file, h fileconn.File) error {
	info, err := h.Stat()
	if err != nil {
		return errors.Join(err, h.Close())
	}
	if id := fileconn.IDOf(info); id != f.id {
		if s.follow {
			return h.Close()
		}
		s.unlist(f) // replaced since Open looked
		f.mark = mark{number: f.number, id: id}
	}
	f.handle = h
	s.open++
	return nil
}

// makeRoom closes handles until one more may be opened: those that were not used for longest. Files that were rotated
// away keep theirs, but the grace of the one that waited longest ends now.
func (s *feed) makeRoom() {
	for s.open >= s.maxOpen {
		oldest := s.leastUsed()
		if oldest == nil {
			break
		}
		s.closeHandle(oldest)
	}
	if s.open >= s.maxOpen && len(s.paused) > 0 {
		s.paused[0].deadline = s.env.Clock.Now()
	}
}

func (s *feed) leastUsed() *file {
	var oldest *file
	for _, t := range s.all {
		for _, f := range t.files {
			closable := f.handle != nil && !f.leaving && (f.state == stateIdle || f.state == stateQueued)
			if closable && (oldest == nil || f.used < oldest.used) {
				oldest = f
			}
		}
	}
	return oldest
}

func (s *feed) closeHandle(f *file) {
	if f.handle == nil {
		return
	}
	_ = f.handle.Close() // it was only read from
	f.handle = nil
	s.open--
}

// close closes everything.
func (s *feed) close() error {
	if s.cur != nil {
		s.endCursor()
	}
	for _, t := range s.all {
		for _, f := range t.files {
			s.closeHandle(f)
		}
	}
	return s.watch.close()
}
