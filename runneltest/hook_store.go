package runneltest

import (
	"context"

	"github.com/runnel-go/runnel/checkpoint"
)

// HookStore returns a store whose calls go through a hook, and which is otherwise store.
func HookStore(store checkpoint.Store, h Hook) checkpoint.Store {
	return &hookedStore{store, newHooked(h)}
}

type hookedStore struct {
	checkpoint.Store
	h *hooked
}

// Validate returns what the store says of its configuration.
func (s *hookedStore) Validate() error {
	if v, ok := s.Store.(checkpoint.Validator); ok {
		return v.Validate()
	}
	return nil
}

// Open opens the store.
func (s *hookedStore) Open(ctx context.Context, pipeline string) (checkpoint.Log, error) {
	l := &hookedLog{h: s.h}
	err := s.h.call(ctx, OpOpenStore, func() (err error) {
		l.log, err = s.Store.Open(ctx, pipeline)
		return err
	})
	if err != nil {
		if l.log != nil {
			_ = l.log.Close() // nobody else could give the lease back
		}
		return nil, err
	}
	return l, nil
}

type hookedLog struct {
	h   *hooked
	log checkpoint.Log
}

// Load loads.
func (l *hookedLog) Load(ctx context.Context, n checkpoint.Number) (c *checkpoint.Checkpoint, err error) {
	err = l.h.call(ctx, OpLoad, func() (err error) {
		c, err = l.log.Load(ctx, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Save saves.
func (l *hookedLog) Save(ctx context.Context, c *checkpoint.Checkpoint) error {
	return l.h.call(ctx, OpSave, func() error { return l.log.Save(ctx, c) })
}

// Rewind rewinds.
func (l *hookedLog) Rewind(ctx context.Context, n checkpoint.Number) error {
	return l.h.call(ctx, OpRewind, func() error { return l.log.Rewind(ctx, n) })
}

// Close closes.
func (l *hookedLog) Close() error {
	return l.h.call(context.Background(), OpCloseStore, l.log.Close)
}
