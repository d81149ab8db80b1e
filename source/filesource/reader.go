package filesource

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// reader reads the files of a source.
type reader[T any] struct {
	feed    *feed
	parser  parser[T]
	buffers runnel.Buffers[T]

	mu   sync.Mutex // held by Read, so that Close waits for it
	err  error      // guarded by mu: what Read failed with
	once sync.Once
}

var (
	_ runnel.Reader[string]   = (*reader[string])(nil)
	_ runnel.PositionComparer = (*reader[string])(nil)
	_ runnel.Lagger           = (*reader[string])(nil)
)

// Read returns the records of one block of one file.
func (r *reader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return runnel.Fetch[T]{}, r.err
	}
	for {
		c, err := r.feed.current(ctx)
		if err != nil {
			return runnel.Fetch[T]{Position: r.feed.position()}, r.failed(ctx, err)
		}
		if c == nil {
			return runnel.Fetch[T]{Position: r.feed.position()}, nil
		}
		fetch, ok, err := r.take(ctx, c)
		if ok {
			return fetch, nil
		}
		if err == nil {
			err = r.feed.end(ctx)
		}
		if err != nil {
			return runnel.Fetch[T]{}, r.failed(ctx, err)
		}
	}
}

// failed remembers an error, unless it is that Read was told to stop.
func (r *reader[T]) failed(ctx context.Context, err error) error {
	if r.feed.stopped(ctx) == nil {
		r.err = err
	}
	return err
}

// take returns the next records of a cursor; ok is false if it has no more.
func (r *reader[T]) take(ctx context.Context, c *cursor) (fetch runnel.Fetch[T], ok bool, err error) {
	if c.f.skip != nil {
		return r.skipLine(ctx, c)
	}
	for {
		out := chunk[T]{max: r.feed.env.MaxBatch, buffers: &r.buffers, assign: c.f.track.assign}
		in, base := c.input(), c.f.offset
		used := r.parser.parse(in, base, &out)
		if used == 0 {
			if in.full {
				return r.skipLine(ctx, c)
			}
			if more, err := c.fill(ctx); !more {
				return fetch, false, err
			}
			continue
		}
		slices.SortStableFunc(out.bad, func(a, b bad) int { return cmp.Compare(a.start, b.start) })
		for _, b := range out.bad {
			fetch.Failed = append(fetch.Failed, r.failure(c.f, &RecordError{
				Line: c.f.lineOf(in.data, b.start), Offset: base + int64(b.start), Length: int64(b.length), Err: b.err,
			}, b.raw))
		}
		c.take(used)
		if out.good+len(out.bad) > 0 {
			fetch.Batch = out.batch()
			return r.finish(c, fetch), true, nil
		}
	}
}

// skipLine returns the failure of a line beyond the limit, once its end was read.
func (r *reader[T]) skipLine(ctx context.Context, c *cursor) (fetch runnel.Fetch[T], ok bool, err error) {
	line, err := c.skipLine(ctx)
	if line == nil {
		return fetch, false, err
	}
	length := line.length
	if line.crlf && !r.feed.raw {
		length--
	}
	fetch.Failed = []runnel.Failed{r.failure(c.f, &RecordError{
		Line: c.f.line + 1, Offset: c.f.offset, Length: length, Err: ErrTooLong,
	}, line.head)}
	c.endSkip(line)
	return r.finish(c, fetch), true, nil
}

// failure returns a record that could not be read.
func (r *reader[T]) failure(f *file, at *RecordError, raw []byte) runnel.Failed {
	at.Path = f.track.path
	origin := runnel.Origin{Source: r.feed.env.Name, Partition: at.Path, Offset: at.Offset}
	return runnel.Failed{
		Meta: runnel.Meta{Origin: origin}, Value: raw, Stage: r.feed.env.Name, Attempts: 1, Err: at,
	}
}

// finish gives a fetch the position behind it.
func (r *reader[T]) finish(c *cursor, fetch runnel.Fetch[T]) runnel.Fetch[T] {
	c.f.seal()
	r.feed.moved(c.f.track)
	fetch.Position = r.feed.position()
	return fetch
}

// Commit does nothing: a file keeps no position.
func (r *reader[T]) Commit(context.Context, checkpoint.Position) error { return nil }

// Close closes the files and ends a Read that waits.
func (r *reader[T]) Close(context.Context) error {
	var err error
	r.once.Do(func() {
		close(r.feed.closed)
		r.mu.Lock()
		defer r.mu.Unlock()
		err = r.feed.close()
	})
	return err
}

// ComparePosition compares the offsets in the files of a path.
func (r *reader[T]) ComparePosition(_ string, a, b []byte) int { return compareTokens(a, b) }

// Lag returns the bytes that are known and not read; of an archive, packed.
func (r *reader[T]) Lag() map[string]int64 { return r.feed.lag() }
