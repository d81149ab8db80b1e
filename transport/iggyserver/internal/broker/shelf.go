package broker

import (
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// named is what has a number and a name: streams, topics, groups, users.
type named interface {
	comparable
	// label returns number and name.
	label() (id uint32, name string)
}

// shelf holds things by number and by name. Numbers count from 0 and are not used twice, so that a permission or an
// offset of something deleted does not fit what comes later. The zero value is empty.
type shelf[T named] struct {
	items  []T // by number
	byName map[string]T
	next   uint32
}

// take returns the number for a thing that is to be put here.
func (s *shelf[T]) take() uint32 {
	s.next++
	return s.next - 1
}

// put adds a thing whose number is above those of all others.
func (s *shelf[T]) put(item T) {
	if s.byName == nil {
		s.byName = map[string]T{}
	}
	s.items = append(s.items, item)
	_, name := item.label()
	s.byName[name] = item
}

// find returns what an identifier names.
func (s *shelf[T]) find(id wire.Identifier) (item T, ok bool) {
	if id.Name != "" {
		item, ok = s.byName[id.Name]
		return item, ok
	}
	if at, ok := s.at(id.Number); ok {
		return s.items[at], true
	}
	return item, false
}

func (s *shelf[T]) at(id uint32) (int, bool) {
	return slices.BinarySearchFunc(s.items, id, func(item T, id uint32) int {
		n, _ := item.label()
		return int(int64(n) - int64(id))
	})
}

// has says whether a name is taken.
func (s *shelf[T]) has(name string) bool {
	_, ok := s.byName[name]
	return ok
}

// remove takes a thing away.
func (s *shelf[T]) remove(item T) {
	id, name := item.label()
	if at, ok := s.at(id); ok {
		s.items = slices.Delete(s.items, at, at+1)
		delete(s.byName, name)
	}
}

// restore puts back a thing that was taken away.
func (s *shelf[T]) restore(item T) {
	id, name := item.label()
	at, _ := s.at(id)
	s.items = slices.Insert(s.items, at, item)
	s.byName[name] = item
}

// renamed files a thing that had another name under the one it has now.
func (s *shelf[T]) renamed(item T, was string) {
	delete(s.byName, was)
	_, name := item.label()
	s.byName[name] = item
}

// all returns everything by number. It is not to be changed.
func (s *shelf[T]) all() []T { return s.items }

func (s *shelf[T]) len() int { return len(s.items) }
