package runnel_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

func TestDraftsBatchHasOnlyTheColumnsThatWereAskedFor(t *testing.T) {
	t.Parallel()
	var buffers runnel.Buffers[string]
	a := runnel.NewAssignment("s", "p")
	plain := buffers.Take(2)
	require.Equal(t, runnel.Meta{}, ptr(plain.Batch(2)).Meta(1))
	origin := buffers.Take(3)
	origin.Origin(a, 40)
	copy(origin.Values, []string{"a", "b", "c"})
	b := origin.Batch(2)
	require.Equal(t, []string{"a", "b"}, b.Values())
	require.Equal(t, "s/p@41", b.Meta(1).Origin.String())
	offsets := buffers.Take(3)
	copy(offsets.Offsets(a), []int64{5, 9, 11})
	offsets.Keys()[1] = []byte("k")
	b = offsets.Batch(2)
	require.Equal(t, "s/p@9", b.Meta(1).Origin.String())
	require.Equal(t, "k", string(b.Meta(1).Key))
	require.Zero(t, b.Meta(1).Time)
	require.Zero(t, ptr(buffers.Take(0)).Values)
}

func ptr[T any](v T) *T { return &v }

// sourceOf returns a source of so many batches, which make returns by number.
func sourceOf[T any](batches int, make func(n int) runnel.Batch[T]) runnel.Source[T] {
	return &batchSource[T]{batches: batches, make: make}
}

type batchSource[T any] struct {
	batches, next int
	make          func(n int) runnel.Batch[T]
}

func (s *batchSource[T]) Describe() runnel.Traits { return runnel.Traits{Replay: true} }

func (s *batchSource[T]) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[T], error) {
	return s, nil
}

func (s *batchSource[T]) Read(context.Context) (runnel.Fetch[T], error) {
	if s.next == s.batches {
		return runnel.Fetch[T]{}, io.EOF
	}
	s.next++
	return runnel.Fetch[T]{Batch: s.make(s.next - 1), Position: at(s.next)}, nil
}

func (s *batchSource[T]) Commit(context.Context, checkpoint.Position) error { return nil }
func (s *batchSource[T]) Close(context.Context) error                       { return nil }

// parcel is a value that knows what it is: it sums up its number, and is in memory of its own and in a key.
type parcel struct {
	number uint64
	sum    uint32
}

func newParcel(n uint64) parcel { return parcel{n, sumOf(n)} }

func sumOf(n uint64) uint32 { return crc32.ChecksumIEEE(binary.BigEndian.AppendUint64(nil, n)) }

// check says whether a record is what it was when it was made: its value, and the metadata beside it.
func (p parcel) check(m runnel.Meta) error {
	switch {
	case p.sum != sumOf(p.number):
		return fmt.Errorf("value %d is not what it was", p.number)
	case m.Key != nil && binary.BigEndian.Uint64(m.Key) != p.number:
		return fmt.Errorf("the key of %d is that of %d", p.number, binary.BigEndian.Uint64(m.Key))
	case !m.Time.IsZero() && m.Time.UnixNano() != int64(p.number):
		return fmt.Errorf("the time of %d is that of %d", p.number, m.Time.UnixNano())
	case m.Origin.Source != "" && m.Origin.Offset != int64(p.number):
		return fmt.Errorf("the offset of %d is that of %d", p.number, m.Origin.Offset)
	}
	return nil
}

// checker is a sink that holds on to nothing and checks every record.
type checker struct {
	slow bool
	seen int64
}

func (s *checker) Open(context.Context, runnel.SinkEnv) (runnel.Writer[parcel], error) { return s, nil }

func (s *checker) Write(_ context.Context, b runnel.Batch[parcel]) error {
	if s.slow {
		runtime.Gosched()
	}
	for i, p := range b.Values() {
		if err := p.check(b.Meta(i)); err != nil {
			return err
		}
	}
	s.seen += int64(b.Len())
	return nil
}

func (s *checker) Flush(context.Context) error { return nil }
func (s *checker) Close(context.Context) error { return nil }

// Memory of batches is used again while parallel stages, fan-outs, merges and shards still hold parts of it. No record
// that arrives is touched by that.
func TestRecordsStayWhatTheyAreWhileMemoryIsUsedAgain(t *testing.T) {
	t.Parallel()
	const batches, size = 150, 64
	var buffers runnel.Buffers[parcel]
	a := runnel.NewAssignment("s", "p")
	src := sourceOf(batches, func(n int) runnel.Batch[parcel] {
		draft := buffers.Take(size)
		keys, times := draft.Keys(), draft.Times()
		for i := range draft.Values {
			number := uint64(n*size + i)
			draft.Values[i] = newParcel(number)
			keys[i], times[i] = binary.BigEndian.AppendUint64(nil, number), time.Unix(0, int64(number))
		}
		draft.Origin(a, int64(n*size))
		return draft.Batch(size)
	})
	p := runnel.New("p", runnel.MaxBatch(48), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(1000)))
	s := runnel.From(p, src)
	number := func(v parcel) uint64 { return v.number }
	stages := map[string]stage[parcel, parcel]{
		"rows": func(_ context.Context, in runnel.Batch[parcel], out *runnel.Out[parcel]) error {
			var rows []int32
			for i := range in.Len() {
				if in.Values()[i].number%3 > 0 {
					rows = append(rows, int32(i))
				}
			}
			out.EmitRows(in, rows)
			out.Filtered(in.Len() - len(rows))
			return nil
		},
		"values": func(_ context.Context, in runnel.Batch[parcel], out *runnel.Out[parcel]) error {
			values := out.Buffer(in.Len())
			copy(values, in.Values())
			out.EmitValues(values, in.Columns())
			return nil
		},
		"parts": func(_ context.Context, in runnel.Batch[parcel], out *runnel.Out[parcel]) error {
			half := in.Len() / 2
			out.EmitBatch(in.Slice(0, half))
			out.EmitBatch(in.Slice(half, in.Len()).WithHeaders(make([]runnel.Headers, in.Len()-half)))
			return nil
		},
		"each": func(_ context.Context, in runnel.Batch[parcel], out *runnel.Out[parcel]) error {
			for i, v := range in.Values() {
				out.Emit(v, in.Meta(i))
			}
			return nil
		},
	}
	open := func(f stage[parcel, parcel]) func(runnel.StageEnv) (runnel.Stage[parcel, parcel], error) {
		return func(runnel.StageEnv) (runnel.Stage[parcel, parcel], error) { return f, nil }
	}
	var sinks []*checker
	var want []int64
	sink := func(s runnel.Stream[parcel], n int64, slow bool) {
		sinks, want = append(sinks, &checker{slow: slow}), append(want, n)
		s.To(sinks[len(sinks)-1])
	}
	const all = batches * size
	for i, name := range slices.Sorted(maps.Keys(stages)) {
		f, n := stages[name], int64(all)
		if name == "rows" {
			n = all / 3 * 2
		}
		plain := runnel.Apply(s, name, nil, open(f))
		sink(plain, n, i%2 == 0)
		sink(runnel.Apply(s, name, nil, open(f), runnel.Parallel(3)), n, true)
		sink(runnel.Apply(s, name, nil, open(f), runnel.Parallel(3), runnel.Unordered()), n, false)
		sink(runnel.Apply(plain, name, number, open(f), runnel.Parallel(2)), n, false)
		sink(runnel.Merge(runnel.Apply(s, name, number, open(f), runnel.Parallel(2), runnel.Stateful()), plain), 2*n, true)
	}
	require.NoError(t, p.Run(t.Context()))
	for i, s := range sinks {
		require.Equal(t, want[i], s.seen, "sink %d", i)
	}
}

// The path of a record allocates nothing: what a run allocates does not grow with its records.
func TestPathOfARecordAllocatesNothing(t *testing.T) {
	const records, size = 1 << 20, 1024
	a := runnel.NewAssignment("s", "p")
	key := []byte("key")
	for name, fill := range map[string]func(d *runnel.Draft[int], first int64){
		"without metadata": func(*runnel.Draft[int], int64) {},
		"with an origin":   func(d *runnel.Draft[int], first int64) { d.Origin(a, first) },
		"with every column": func(d *runnel.Draft[int], first int64) {
			keys, times, headers, offsets := d.Keys(), d.Times(), d.Headers(), d.Offsets(a)
			for i := range keys {
				keys[i], times[i], headers[i], offsets[i] = key, time.Unix(first, 0), nil, first+int64(i)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var buffers runnel.Buffers[int]
			position := at(1)
			src := &fixedSource[int]{batchSource[int]{batches: records / size, make: func(n int) runnel.Batch[int] {
				draft := buffers.Take(size)
				for i := range draft.Values {
					draft.Values[i] = n*size + i
				}
				fill(&draft, int64(n*size))
				return draft.Batch(size)
			}}, position}
			count := &counting{}
			p := runnel.New("p", runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
			s := through(runnel.From(p, src), double)
			s = through(s, (&odd{}).process)
			through(s, double).To(count)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.NoError(t, p.Run(t.Context()))
			runtime.ReadMemStats(&after)
			require.EqualValues(t, records/2, count.n)
			perRecord := float64(after.Mallocs-before.Mallocs) / records
			require.Less(t, perRecord, 0.01)
		})
	}
}

// fixedSource is a source whose position needs no memory.
type fixedSource[T any] struct {
	batchSource[T]
	position checkpoint.Position
}

func (s *fixedSource[T]) Open(context.Context, runnel.SourceEnv, checkpoint.Position) (runnel.Reader[T], error) {
	return s, nil
}

func (s *fixedSource[T]) Read(context.Context) (runnel.Fetch[T], error) {
	if s.next == s.batches {
		return runnel.Fetch[T]{}, io.EOF
	}
	s.next++
	return runnel.Fetch[T]{Batch: s.make(s.next - 1), Position: s.position}, nil
}

// counting is a sink that counts.
type counting struct{ n int }

func (s *counting) Open(context.Context, runnel.SinkEnv) (runnel.Writer[int], error) { return s, nil }
func (s *counting) Write(_ context.Context, b runnel.Batch[int]) error               { s.n += b.Len(); return nil }
func (s *counting) Flush(context.Context) error                                      { return nil }
func (s *counting) Close(context.Context) error                                      { return nil }

// double is a mapping.
func double(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	values := out.Buffer(in.Len())
	for i, v := range in.Values() {
		values[i] = 2 * v
	}
	out.EmitValues(values, in.Columns())
	return nil
}

// odd is a filter that keeps every second record.
type odd struct{ rows []int32 }

func (f *odd) process(_ context.Context, in runnel.Batch[int], out *runnel.Out[int]) error {
	f.rows = f.rows[:0]
	for i := range in.Len() {
		if i%2 == 1 {
			f.rows = append(f.rows, int32(i))
		}
	}
	out.EmitRows(in, f.rows)
	return nil
}
