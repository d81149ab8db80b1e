package filesource

import (
	"cmp"
	"slices"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// settleTime is how old a change has to be before a file that looks the same is taken to be the same: clocks of file
// systems are coarse, and two writes at one tick cannot be told apart.
const settleTime = 2 * time.Second

// scan looks which files there are, and queues those that have something to read.
func (s *feed) scan() error {
	s.scans++
	s.scanned = s.env.Clock.Now()
	files, dirs, err := matchFiles(s.fsys, s.pattern)
	if err != nil {
		return err
	}
	s.watch.sync(dirs)
	if err := s.checkPaused(); err != nil {
		return err
	}
	s.matched = make(map[fileconn.FileID]bool, len(files))
	var fresh []found
	for _, at := range files {
		s.matched[at.id] = true
		if f := s.known(at); f != nil {
			s.revisit(f, at)
		} else {
			fresh = append(fresh, at)
		}
	}
	if err := s.missing(); err != nil {
		return err
	}
	if s.follow { // in the order in which a rotated log was written
		slices.SortStableFunc(fresh, func(a, b found) int { return cmp.Compare(a.changed, b.changed) })
	}
	for _, at := range fresh {
		if err := s.admit(at); err != nil {
			return err
		}
	}
	s.forget()
	s.scanNext = s.env.Clock.Now().Add(s.interval)
	return nil
}

// known returns the file that was found, if it is one that was there before.
func (s *feed) known(at found) *file {
	if at.id == (fileconn.FileID{}) {
		return s.byPath[at.path]
	}
	if f := s.byID[at.id]; f != nil {
		return f
	}
	// Device numbers may change when a machine starts; where path and inode agree, the content decides.
	if t := s.tracks[at.path]; t != nil {
		for _, f := range t.files {
			if f.state == stateStored && f.id.Inode == at.id.Inode {
				delete(s.byID, f.id)
				f.id = at.id
				s.byID[f.id] = f
				return f
			}
		}
	}
	return nil
}

// revisit looks whether a known file changed.
func (s *feed) revisit(f *file, at found) {
	f.seen = s.scans
	if s.byPath[f.path] == f {
		delete(s.byPath, f.path)
	}
	f.path = at.path
	s.byPath[at.path] = f
	same := f.size == at.size && f.changed == at.changed
	f.returned = f.state == stateGone
	f.gone, f.leaving, f.closing = 0, false, false
	switch f.state {
	case stateGone: // it came back, or another file has its inode
		s.push(f)
	case stateStored:
		if same && f.finished && !(s.follow && !f.packed) {
			f.state = stateIdle
			return
		}
		s.push(f)
	case stateIdle:
		if !same || !(f.packed || s.settled(at)) {
			f.unread = max(0, at.size-f.offset)
			s.push(f)
		}
	case stateWaiting:
		if !same || !f.cut {
			f.cut = false
			s.push(f)
		}
	}
}

// settled says whether a change is so old that another one would show.
func (s *feed) settled(at found) bool {
	return s.scanned.Sub(time.Unix(0, at.changed)) > settleTime
}

// missing finds the files that no path of the pattern leads to any more.
func (s *feed) missing() error {
	for _, t := range s.all {
		for _, f := range t.files {
			if f.state == stateGone || f.leaving || f.seen == s.scans {
				continue
			}
			if err := s.leave(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// admit begins to read a file that was not there before.
func (s *feed) admit(at found) error {
	if s.follow {
		switch original, verdict, err := s.copyOf(at); {
		case err != nil || verdict == copyUndecided:
			return err
		case verdict == copyContinues:
			return s.adopt(original, at, false)
		}
		if last := s.track(at.path).newest(); last != nil {
			if err := s.missed(last, at.changed); err != nil {
				return err
			}
		}
	}
	return s.enlist(s.track(at.path).add(at), at)
}

// enlist queues a new file, and opens it if handles are left, so that it is read even if it is removed soon.
func (s *feed) enlist(f *file, at found) error {
	f.seen = s.scans
	if f.id != (fileconn.FileID{}) {
		s.byID[f.id] = f
	}
	s.byPath[at.path] = f
	delete(s.doubtful, at.id)
	s.push(f)
	if !s.follow {
		f.track.measure()
		return nil
	}
	s.moved(f.track) // so that the next run knows it, though it be renamed before anything of it was read
	if s.open < s.maxOpen {
		return s.openHandle(f)
	}
	return nil
}

// forget drops the positions of files that are gone for long.
func (s *feed) forget() {
	limit := s.scanned.Add(-s.forgetAfter).Unix()
	for _, t := range s.all {
		for _, f := range slices.Clone(t.files) {
			if f.state == stateGone && f.gone != 0 && f.gone <= limit {
				t.drop(f)
				s.unlist(f)
				s.moved(t)
			}
		}
	}
	for id := range s.doubtful {
		if !s.matched[id] {
			delete(s.doubtful, id)
		}
	}
}
