package filesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// turnBytes is how much of a growing file is read before others have their turn.
const turnBytes = 4 << 20

// feed knows the files of a source, decides which is read next, and hands out its bytes. One goroutine reads; only lag
// may be called beside it.
type feed struct {
	config
	pattern string
	env     runnel.SourceEnv
	headed  headed // nil if the parser needs no header

	tracks map[string]*track         // by path
	byID   map[fileconn.FileID]*file // those that are there
	byPath map[string]*file          // those that are there
	queue  []*file
	paused []*file // in the order of their deadlines
	lost   []*file // to be reported
	cur    *cursor
	buf    []byte
	dirty  []*track

	scans    uint64                   // made so far
	scanned  time.Time                // the start of the last
	scanNext time.Time                // counted from its end, so that large folders leave time to read
	matched  map[fileconn.FileID]bool // by the last scan
	doubtful map[fileconn.FileID]doubt
	open     int    // handles
	uses     uint64 // see file.used
	watch    *watch

	stopper
	mu  sync.Mutex
	all []*track // tracks, in the order they were found; guarded by mu against lag
}

func newFeed(c config, pattern string, env runnel.SourceEnv, h headed) *feed {
	return &feed{
		config: c, pattern: pattern, env: env, headed: h,
		tracks: map[string]*track{}, byID: map[fileconn.FileID]*file{}, byPath: map[string]*file{},
		doubtful: map[fileconn.FileID]doubt{}, stopper: stopper{make(chan struct{})},
	}
}

// restore makes the files known that a position names.
func (s *feed) restore(from checkpoint.Position) error {
	for path, token := range from {
		marks, err := decodeToken(token)
		if err != nil {
			return fmt.Errorf("filesource: %s: %w", path, err)
		}
		t := s.track(path)
		for _, m := range marks {
			f := &file{mark: *m, track: t, path: path, state: stateStored}
			t.files = append(t.files, f)
			t.last = max(t.last, m.number)
			switch {
			case m.replaced:
				f.state = stateGone
			case m.id != fileconn.FileID{}:
				s.byID[m.id] = f
			default:
				s.byPath[path] = f
			}
			if m.gone != 0 {
				f.state = stateGone
			}
		}
	}
	return nil
}

// track returns the track of a path.
func (s *feed) track(path string) *track {
	t := s.tracks[path]
	if t == nil {
		t = &track{path: path, assign: runnel.NewAssignment(s.env.Name, path)}
		s.tracks[path] = t
		s.mu.Lock()
		s.all = append(s.all, t)
		s.mu.Unlock()
	}
	return t
}

// current returns the cursor to read from: nil if there is nothing to read but positions moved; io.EOF if there is
// nothing more.
func (s *feed) current(ctx context.Context) (*cursor, error) {
	for {
		if err := s.stopped(ctx); err != nil {
			return nil, err
		}
		s.reportLost()
		if s.follow {
			if err := s.lookAround(); err != nil {
				return nil, err
			}
		}
		if s.cur != nil && !s.turnOver() {
			return s.cur, nil
		}
		switch next := s.pop(); {
		case next != nil:
			if f, err := s.start(ctx, next); err != nil {
				return nil, s.startFailed(ctx, f, err)
			}
		case len(s.dirty) > 0:
			return nil, nil
		case !s.follow:
			return nil, io.EOF
		default:
			if err := s.wait(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// stopper says when to stop.
type stopper struct{ closed chan struct{} }

// stopped returns why what runs under ctx is to stop, or nil.
func (s stopper) stopped(ctx context.Context) error {
	select {
	case <-s.closed:
		return fmt.Errorf("filesource: %w", runnel.ErrClosed)
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
		return nil
	}
}

// turnOver ends the turn of a file that others wait behind. Archives, and files that were rotated, are read to their
// end at once: it costs to begin in their middle, and what comes after them has to wait.
func (s *feed) turnOver() bool {
	c := s.cur
	if c.read < turnBytes || len(s.queue) == 0 || c.f.leaving || c.content.unpack != nil || c.f.skip != nil {
		return false
	}
	s.endCursor()
	s.push(c.f)
	return true
}

// startFailed returns why a file could not be started. If that is the end of the Read, the next one starts it again.
func (s *feed) startFailed(ctx context.Context, f *file, err error) error {
	if s.stopped(ctx) != nil {
		if s.cur != nil {
			s.endCursor()
		}
		s.pushFront(f)
	}
	return s.fileError(ctx, f, err)
}

func (s *feed) push(f *file) {
	f.state = stateQueued
	s.queue = append(s.queue, f)
}

func (s *feed) pushFront(f *file) {
	f.state = stateQueued
	s.queue = slices.Insert(s.queue, 0, f)
}

func (s *feed) pop() *file {
	if len(s.queue) == 0 {
		return nil
	}
	f := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	return f
}

// end is called when the cursor has nothing more, or cannot go on.
func (s *feed) end(ctx context.Context) error {
	c := s.cur
	f := c.f
	s.endCursor()
	switch {
	case errors.Is(c.err, io.EOF) && s.follow:
		return s.atEnd(f)
	case errors.Is(c.err, io.EOF):
		f.finished = !c.cut
		s.closeHandle(f)
		f.state = stateIdle
		s.moved(f.track)
		return nil
	case errors.Is(c.err, io.ErrUnexpectedEOF) && s.follow && !f.leaving && !f.cut:
		f.cut = true // it may be one that is being written
		s.pause(f)
		return nil
	}
	return s.fileError(ctx, f, c.err)
}

func (s *feed) endCursor() {
	c := s.cur
	s.cur = nil
	c.close()
	if len(c.buf) == blockBytes {
		s.buf = c.buf
	}
}

// fileError names the file, and how far it was read: of an archive, in what is unpacked.
func (s *feed) fileError(ctx context.Context, f *file, err error) error {
	if s.stopped(ctx) != nil {
		return err
	}
	place := fmt.Sprintf("at byte %d", f.offset)
	if f.packed {
		place += " of what is unpacked"
	}
	if f.packed && errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the archive is cut: %w", err)
	}
	return fmt.Errorf("filesource: %s: %s: %w", f.track.path, place, aside(f.track.path, err))
}

// moved notes that the position of a track moved.
func (s *feed) moved(t *track) {
	if !t.dirty {
		t.dirty = true
		s.dirty = append(s.dirty, t)
	}
	t.measure()
}

// position returns the tokens of the tracks that moved since it was last called.
func (s *feed) position() checkpoint.Position {
	if len(s.dirty) == 0 {
		return nil
	}
	moved := make(checkpoint.Position, len(s.dirty))
	for _, t := range s.dirty {
		for _, f := range t.prune() {
			s.unlist(f)
		}
		moved[t.path] = t.token()
		t.dirty = false
		if len(t.files) == 0 {
			s.forgetTrack(t)
		}
	}
	s.dirty = s.dirty[:0]
	return moved
}

// forgetTrack drops a track that holds no file.
func (s *feed) forgetTrack(t *track) {
	delete(s.tracks, t.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(other *track) bool { return other == t })
}

// unlist makes a file unknown.
func (s *feed) unlist(f *file) {
	if s.byID[f.id] == f {
		delete(s.byID, f.id)
	}
	if s.byPath[f.path] == f {
		delete(s.byPath, f.path)
	}
}

// lag returns what is not read yet of each track.
func (s *feed) lag() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	lag := make(map[string]int64, len(s.all))
	for _, t := range s.all {
		lag[t.path] = t.lag.Load()
	}
	return lag
}

// event tells what happened to a file.
func (s *feed) event(kind EventKind, f *file, size int64) {
	e := Event{Kind: kind, Path: f.track.path, Offset: f.offset, Size: size}
	s.env.Log.Info("file "+string(kind), "path", e.Path, "offset", e.Offset, "size", e.Size)
	if s.onEvent != nil {
		s.onEvent(e)
	}
}
