package filesource

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/runnel-go/runnel"
)

// lookAround notes what has changed, if it is time to look or the system told of it.
func (s *feed) lookAround() error {
	s.resumePaused()
	rescan := s.watch.drain(s.touched)
	if rescan || !s.env.Clock.Now().Before(s.scanNext) {
		return s.scanFailed(s.scan())
	}
	return nil
}

// scanFailed names the pattern that could not be looked at.
func (s *feed) scanFailed(err error) error {
	if err == nil || s.stopped(context.Background()) != nil {
		return err
	}
	return fmt.Errorf("filesource: %s: %w", s.pattern, aside(s.pattern, err))
}

// touched notes that a file was written to. It returns false if that is no file that is known.
func (s *feed) touched(path string) bool {
	f := s.byPath[filepath.Clean(path)]
	if f == nil {
		return false
	}
	f.touched = true
	if f.state == stateIdle || (f.state == stateWaiting && f.cut) {
		f.cut = false
		s.push(f)
	}
	return true
}

// wait returns when something may have changed.
func (s *feed) wait(ctx context.Context) error {
	timer, stop := s.env.Clock.After(s.nextWake())
	defer stop()
	select {
	case <-timer:
		return nil
	case event, ok := <-s.watch.events():
		s.watch.keep(event, ok)
		return nil
	case err, ok := <-s.watch.errors():
		s.watch.failed(err, ok)
		return nil
	case <-s.closed:
		return fmt.Errorf("filesource: %w", runnel.ErrClosed)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch asks the system to tell of changes. Its methods do nothing on a nil watch: then there is only polling.
type watch struct {
	fs   *fsnotify.Watcher
	log  func(msg string, args ...any)
	dirs map[string]bool
	kept []fsnotify.Event // received while waiting
	full bool             // events were lost: look at everything
}

// newWatch returns nil if the system cannot tell, or has no watch left.
func newWatch(log func(msg string, args ...any)) *watch {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		log("no notification of changes to files, polling only", "error", err)
		return nil
	}
	return &watch{fs: w, log: log, dirs: map[string]bool{}}
}

// sync watches these directories and no others.
func (w *watch) sync(dirs []string) {
	if w == nil {
		return
	}
	wanted := make(map[string]bool, len(dirs))
	for _, dir := range dirs {
		wanted[dir] = true
		if w.dirs[dir] {
			continue
		}
		if err := w.fs.Add(dir); err == nil {
			w.dirs[dir] = true
			w.full = true // what came before the watch is not told
		} else if !absent(err) {
			w.log("no notification of changes in a directory, polling it", "path", dir, "error", err)
			w.dirs[dir] = true // asked once
		}
	}
	for dir := range w.dirs {
		if !wanted[dir] {
			_ = w.fs.Remove(dir) // it may be gone, and its watch with it
			delete(w.dirs, dir)
		}
	}
}

func (w *watch) events() <-chan fsnotify.Event {
	if w == nil {
		return nil
	}
	return w.fs.Events
}

func (w *watch) errors() <-chan error {
	if w == nil {
		return nil
	}
	return w.fs.Errors
}

// keep takes an event that ended a wait.
func (w *watch) keep(event fsnotify.Event, ok bool) {
	if ok {
		w.kept = append(w.kept, event)
	}
}

// failed takes an error in place of events: some may be lost.
func (w *watch) failed(err error, ok bool) {
	if ok {
		w.full = true
		w.log("notification of changes to files", "error", err)
	}
}

// drain calls touched for each file that was written to, and says whether a scan is needed: files came or went, or it
// is not known what changed.
func (w *watch) drain(touched func(path string) bool) (rescan bool) {
	if w == nil {
		return false
	}
	for more := true; more; {
		select {
		case event, ok := <-w.fs.Events:
			w.keep(event, ok)
			more = ok
		case err, ok := <-w.fs.Errors:
			w.failed(err, ok)
			more = ok
		default:
			more = false
		}
	}
	rescan, w.full = w.full, false
	for _, event := range w.kept {
		switch {
		case event.Has(fsnotify.Create), event.Has(fsnotify.Remove), event.Has(fsnotify.Rename):
			rescan = true
			if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
				delete(w.dirs, event.Name) // a directory's watch goes with it
			}
		case event.Has(fsnotify.Write):
			touched(event.Name)
		}
	}
	w.kept = w.kept[:0]
	return rescan
}

// close ends the watch and the goroutine of the library.
func (w *watch) close() error {
	if w == nil {
		return nil
	}
	return w.fs.Close()
}
