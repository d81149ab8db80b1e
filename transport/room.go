package transport

import (
	"sync"
	"sync/atomic"
)

// Bounds of what a [Room] keeps.
const (
	spareFrames = 4
	spareBytes  = 8 << 20
)

// Room is the memory that the frames of one link are read into. It knows how long they are, so that the next one gets its
// memory at once, and uses those again that were given back. The zero value is ready; a nil one knows and keeps nothing. It is
// safe for concurrent use.
type Room struct {
	last  atomic.Int64 // length of the last frame that was longer than FrameRoom
	mu    sync.Mutex
	spare []Frame // guarded by mu
}

// Recycle takes the memory of a frame that nobody looks at any more, for a frame to come. It keeps a few, and none that is
// short or longer than 8 MiB.
func (r *Room) Recycle(frame Frame) {
	if cap(frame) <= FrameRoom || cap(frame) > spareBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spare) < spareFrames {
		r.spare = append(r.spare, frame[:0])
	}
}

// take returns spare memory for a frame of a length, or nil. Short frames get none: they would keep it from long ones.
func (r *Room) take(size int) Frame {
	if r == nil || size <= FrameRoom {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, frame := range r.spare {
		if cap(frame) >= size {
			last := len(r.spare) - 1
			r.spare[i], r.spare[last] = r.spare[last], nil
			r.spare = r.spare[:last]
			return frame
		}
	}
	return nil
}

// known is how long a frame may be to get its memory at once.
func (r *Room) known() int {
	if r == nil {
		return 0
	}
	return int(r.last.Load())
}

// note remembers the length of a frame that has come.
func (r *Room) note(size int) {
	if r != nil && size > FrameRoom {
		r.last.Store(int64(size))
	}
}

// Recycler is an optional ability of a [Conn], found by assertion: it uses the memory of replies again.
type Recycler interface {
	// Recycle takes the frame of a reply, of this link or another one, that nobody looks at any more.
	Recycle(reply Frame)
}
