package flow

import (
	"context"

	"github.com/runnel-go/runnel"
)

// MapRecord turns every record into another, with metadata: f sees the record's and sets the result's.
//
//	in   --1{k}---2{k}---|
//	MapRecord(v{k} → 10v{K})
//	out  --10{K}--20{K}--|
//
// A record that keeps its metadata is written runnel.Record[O]{Value: v, Meta: r.Meta}. Who clears the origin loses
// what error reports name, and the protection of a partition that is given up. An error or panic of f goes by the error
// policy. The metadata is copied record by record; see [Map] for who does not need it.
func MapRecord[I, O any](s runnel.Stream[I], f func(runnel.Record[I]) (runnel.Record[O], error), opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "map", func() runnel.Stage[I, O] { return &mapRecordStage[I, O]{f} }, needs(f != nil, opts))
}

type mapRecordStage[I, O any] struct {
	f func(runnel.Record[I]) (runnel.Record[O], error)
}

// Process maps a batch.
func (m *mapRecordStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return each(ctx, in, out, m)
}

func (m *mapRecordStage[I, O]) run(_ context.Context, in runnel.Batch[I], out *runnel.Out[O]) (n int, err error) {
	defer catch(&err)
	for i := range in.Len() {
		n = i
		r, err := m.f(in.Record(i))
		if err != nil {
			return i, err
		}
		out.Emit(r.Value, r.Meta)
	}
	return in.Len(), nil
}

// FilterRecord keeps the records that keep says yes to, metadata seen, or fails for a record. The others are counted as
// filtered.
//
//	in   --1{k}--2{}--3{k}--|
//	FilterRecord(has a key)
//	out  --1{k}-------3{k}--|
//
// Order and metadata stay as they are. An error or panic of keep goes by the error policy.
func FilterRecord[T any](s runnel.Stream[T], keep func(runnel.Record[T]) (bool, error), opts ...runnel.StageOption) runnel.Stream[T] {
	return apply(s, "filter", func() runnel.Stage[T, T] { return &filterRecordStage[T]{keep: keep} }, needs(keep != nil, opts))
}

type filterRecordStage[T any] struct {
	keep func(runnel.Record[T]) (bool, error)
	rows []int32
}

// Process filters a batch.
func (f *filterRecordStage[T]) Process(ctx context.Context, in runnel.Batch[T], out *runnel.Out[T]) error {
	return each(ctx, in, out, f)
}

func (f *filterRecordStage[T]) run(_ context.Context, in runnel.Batch[T], out *runnel.Out[T]) (int, error) {
	f.rows = f.rows[:0]
	n, err := f.pick(in)
	emitKept(in, out, f.rows, n)
	return n, err
}

func (f *filterRecordStage[T]) pick(in runnel.Batch[T]) (n int, err error) {
	defer catch(&err)
	for i := range in.Len() {
		n = i
		ok, err := f.keep(in.Record(i))
		if err != nil {
			return i, err
		}
		if ok {
			f.rows = append(f.rows, int32(i))
		}
	}
	return in.Len(), nil
}

// FlatMapRecord turns every record into any number of them, with metadata: f sees the record's and sets those of the
// results. A record that gives none is counted as filtered.
//
//	in   --2{k}----------3{k}-------------|
//	FlatMapRecord(v{k} → v times v{k1}, v{k2} …)
//	out  --2{k1}-2{k2}---3{k1}-3{k2}-3{k3}|
//
// What comes of a record stays together, in the order of the slice. An error or panic of f goes by the error policy, and
// nothing of that record is emitted.
func FlatMapRecord[I, O any](s runnel.Stream[I], f func(runnel.Record[I]) ([]runnel.Record[O], error), opts ...runnel.StageOption) runnel.Stream[O] {
	return apply(s, "flatmap", func() runnel.Stage[I, O] { return &flatMapRecordStage[I, O]{f} }, needs(f != nil, opts))
}

type flatMapRecordStage[I, O any] struct {
	f func(runnel.Record[I]) ([]runnel.Record[O], error)
}

// Process expands a batch.
func (m *flatMapRecordStage[I, O]) Process(ctx context.Context, in runnel.Batch[I], out *runnel.Out[O]) error {
	return each(ctx, in, out, m)
}

func (m *flatMapRecordStage[I, O]) run(_ context.Context, in runnel.Batch[I], out *runnel.Out[O]) (int, error) {
	n, passed, err := m.expand(in, out)
	out.Passed(passed)
	out.Filtered(n - passed)
	return n, err
}

func (m *flatMapRecordStage[I, O]) expand(in runnel.Batch[I], out *runnel.Out[O]) (n, passed int, err error) {
	defer catch(&err)
	for i := range in.Len() {
		n = i
		records, err := m.f(in.Record(i))
		if err != nil {
			return i, passed, err
		}
		for _, r := range records {
			out.Emit(r.Value, r.Meta)
		}
		if len(records) > 0 {
			passed++
		}
	}
	return in.Len(), passed, nil
}

// TapRecord shows every record to f, metadata included, and passes it on as it is, unless f fails for it.
//
//	in   --1{k}--2{k}--3{k}--|
//	TapRecord(check, x for 2)
//	out  --1{k}--------3{k}--|   with runnel.Skip
//
// f must not change what the value or the metadata points at: other branches of the stream share it. An error or panic
// of f goes by the error policy.
func TapRecord[T any](s runnel.Stream[T], f func(runnel.Record[T]) error, opts ...runnel.StageOption) runnel.Stream[T] {
	keep := func(r runnel.Record[T]) (bool, error) { return true, f(r) }
	return apply(s, "tap", func() runnel.Stage[T, T] { return &filterRecordStage[T]{keep: keep} }, needs(f != nil, opts))
}
