package broker

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// room bounds what the replies of one link hold of messages until they are written, so that a client which asks and does not
// read cannot make the broker keep all it asks for.
type room struct {
	size int64
	free *semaphore.Weighted // bytes
	turn chan struct{}       // holds one while messages are copied into a reply
}

func newRoom(size int64) room {
	return room{size: size, free: semaphore.NewWeighted(size), turn: make(chan struct{}, 1)}
}

// fill calls read, which copies messages and returns how many bytes, and waits until there is room for as many. One request
// of a link does so at a time, so that no more than one reply is beyond the room. It returns false if ctx ended first.
func (r *request) fill(ctx context.Context, read func() int) bool {
	room := &r.link.room
	select {
	case room.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-room.turn }()
	bytes := min(int64(read()), room.size)
	if err := room.free.Acquire(ctx, bytes); err != nil {
		return false
	}
	r.held += bytes
	return true
}

// release gives back the room of the reply.
func (r *request) release() { r.link.room.free.Release(r.held) }
