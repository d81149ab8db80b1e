package flow

import "github.com/runnel-go/runnel"

// Merge joins streams of one type into one.
//
//	a    --1-----2--------|
//	b    -----7-----8--9--|
//	Merge
//	out  --1--7--2--8--9--|
//
// It reads whichever stream has something, none in preference: records of one stream keep their order, those of different
// streams have none. A stream that has delivered a marker waits until the others have. Metadata stays as it is.
func Merge[T any](s runnel.Stream[T], more ...runnel.Stream[T]) runnel.Stream[T] {
	return runnel.Merge(s, more...)
}
