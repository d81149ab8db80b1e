package disk

import (
	"errors"
	"time"
)

// syncLoop makes durable at intervals what was written.
func (s *Store) syncLoop() {
	tick := time.NewTicker(time.Duration(s.options.Fsync))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.stop:
			return
		}
		if err := s.sync(); err != nil {
			s.options.Logger.Error("what was written could not be made durable: further writes there are refused", "error", err)
		}
	}
}

// sync makes durable what was written.
func (s *Store) sync() error {
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = map[*log]bool{}
	s.mu.Unlock()
	faults := []error{s.journal.sync()}
	for l := range dirty {
		faults = append(faults, l.sync())
	}
	return errors.Join(faults...)
}

// wrote takes note that a log has what is not durable.
func (s *Store) wrote(l *log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty[l] = true
}

// forget takes a log out of what is to be made durable.
func (s *Store) forget(l *log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dirty, l)
}
