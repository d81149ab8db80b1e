package flow

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/runnel-go/runnel"
)

// Keyed is a stream whose records belong to groups, by key. [KeyBy] makes it; [MapKeyed] and the operators with state
// read it.
type Keyed[K comparable, T any] struct {
	// Stream has the records.
	Stream runnel.Stream[T]
	// Key returns the group that a value belongs to. It is called more than once for a value, also at the same time,
	// and always returns the same.
	Key func(T) K
}

// KeyBy groups a stream by key.
//
//	in   --a1--b1--a2--|
//	KeyBy(letter)
//	a    --a1------a2--|
//	b    ------b1------|
//
// It copies nothing and runs nothing; the record's own key, which sinks use, stays as it is.
func KeyBy[K comparable, T any](s runnel.Stream[T], key func(T) K) Keyed[K, T] {
	return Keyed[K, T]{Stream: s, Key: key}
}

// seed is one for all streams, so that a join finds the same keys in the same place.
var seed = maphash.MakeSeed()

// Route returns a number that is the same for all values of a key in this process, for [runnel.Apply] and its like. A
// value that Key panics for gets any number: the stage that calls Key for it deals with the panic.
func (k Keyed[K, T]) Route(v T) (route uint64) {
	defer func() {
		if recover() != nil {
			route = 0
		}
	}()
	return maphash.Comparable(seed, k.Key(v))
}

// Label returns the key of a value as text, for reports of stalls.
func (k Keyed[K, T]) Label(v T) (label string) {
	defer func() {
		if recover() != nil {
			label = ""
		}
	}()
	return fmt.Sprint(k.Key(v))
}

// MapKeyed turns every record into one of another value by a function that waits, one call at a time for each key.
//
//	in   --a1--b1--a2--------|
//	MapKeyed(slow for a1)
//	out  ------b1------a1-a2-|   with runnel.Parallel(2)
//
// With Parallel(n) up to n keys are worked on at once. Records of one key keep their order, those of different keys do
// not; none passes a marker. A key takes a place only while a record of it is in the stage, and a record in retry holds
// its key. A record that is slow holds up its own key, and others once as many as fit wait behind it; what is held for
// longer than [runnel.StallAfter] is reported with its key.
//
// Context, time-out and errors are as with [MapAsync]. A panic of the key function fails for its record.
func MapKeyed[K comparable, I, O any](k Keyed[K, I], f func(context.Context, K, I) (O, error), opts ...runnel.StageOption) runnel.Stream[O] {
	open := func(env runnel.StageEnv) (runnel.Stage[I, O], error) {
		call := func(ctx context.Context, v I) (O, error) { return f(ctx, k.Key(v), v) }
		return &keyedStage[K, I, O]{asyncStage: newAsync(env, call), key: k}, nil
	}
	return runnel.Apply(k.Stream, "map-keyed", k.Route, open, needs(f != nil && k.Key != nil, opts)...)
}

type keyedStage[K comparable, I, O any] struct {
	*asyncStage[I, O]
	key Keyed[K, I]
}

var _ runnel.Labeler[int] = (*keyedStage[int, int, int])(nil)

// Label returns the key of a value.
func (s *keyedStage[K, I, O]) Label(v I) string { return s.key.Label(v) }
