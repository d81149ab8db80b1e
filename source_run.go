package runnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// sourceNode is a source.
type sourceNode[T any] struct {
	*node
	src Source[T]
	out *outlet[T]
}

func (n *sourceNode[T]) reset() {}

// open opens the stages behind the source, then the source.
func (n *sourceNode[T]) open(ctx context.Context, a *attempt) error {
	next, err := n.out.receiver(a, nil)
	if err != nil {
		return err
	}
	dead, err := a.deadLetters(n.node, nil)
	if err != nil {
		return err
	}
	s := &sourceRun[T]{node: n.node, next: next, dead: dead, errs: a.policy(n.node, dead), maxBatch: a.p.cfg.maxBatch,
		turn: make(chan struct{}, 1)}
	from := n.startPosition(a)
	err = protect(n.name, Origin{}, func() (err error) {
		s.reader, err = n.src.Open(ctx, SourceEnv{
			Name: n.name, Log: a.p.cfg.log.With("source", n.name), Clock: a.p.cfg.clock, MaxBatch: a.p.cfg.maxBatch,
		}, from)
		return err
	})
	if err == nil && isNil(s.reader) {
		err = errors.New("it returned no reader")
	}
	if err != nil {
		return stageError(n.name, Origin{}, fmt.Errorf("open: %w", err))
	}
	a.readers = append(a.readers, closer{name: n.name, close: s.reader.Close, abandon: abandoner(s.reader)})
	var compare func(partition string, a, b []byte) int
	if c, ok := s.reader.(PositionComparer); ok {
		compare = c.ComparePosition
	}
	begin := n.begin(s.reader, from)
	s.chose = len(begin) > len(from)
	s.tracker = engine.NewTracker(begin, compare)
	s.start(a)
	return nil
}

// startPosition returns where the checkpoint says that the source goes on; without one, where the first attempt of this
// run began. A source whose own system keeps the positions is asked to begin there.
func (n *node) startPosition(a *attempt) checkpoint.Position {
	switch {
	case n.traits.Moving:
		return nil
	case a.from == nil:
		return maps.Clone(n.began)
	}
	return a.from.Sources[n.name]
}

// begin returns the position that a reader begins at: that of the checkpoint, and for partitions that it does not have
// the one that the reader chose. It is in the first checkpoint, so that no later start chooses anew.
func (n *node) begin(reader any, from checkpoint.Position) checkpoint.Position {
	st, ok := reader.(Starter)
	if !ok || n.traits.Moving {
		return from
	}
	began := maps.Clone(st.Start())
	if began == nil {
		return from
	}
	maps.Copy(began, from)
	n.began = began
	return maps.Clone(began)
}

func abandoner(reader any) func(context.Context, error) error {
	ab, ok := reader.(Abandoner)
	if !ok {
		return nil
	}
	return func(_ context.Context, cause error) error {
		ab.Abandon(cause)
		return nil
	}
}

// sourceRun is an open source. One goroutine reads and hands on, another emits markers, so that these pass while a
// read waits; turn keeps them from coming between the parts of a fetch.
type sourceRun[T any] struct {
	node     *node
	reader   Reader[T]
	next     receiver[T]
	dead     receiver[Failed]
	errs     *policy
	maxBatch int
	handle   *engine.Source
	cancel   context.CancelFunc // of the context that Read gets

	chose   bool            // where to begin
	turn    chan struct{}   // holds a value while one of them emits: a lock whose wait ends with a context
	tracker *engine.Tracker // guarded by turn, like all below
	ended   bool            // no record follows
	last    bool            // the last marker was emitted
}

// start makes the source known and its goroutines ready.
func (s *sourceRun[T]) start(a *attempt) {
	readCtx, cancel := context.WithCancel(a.ctx)
	s.cancel = cancel
	s.handle = a.coordinator.AddSource(engine.SourceConfig{
		Name: s.node.name, Moving: s.node.traits.Moving, Chose: s.chose, Commit: s.reader.Commit, Stop: cancel,
	})
	a.sources[s.node.id] = s.handle
	s.node.handle.Store(s.handle)
	if l, ok := s.reader.(Lagger); ok {
		lag := l.Lag
		s.node.lag.Store(&lag)
	}
	a.spawn(s.node.name, s.markers)
	a.spawn(s.node.name, func(context.Context) error {
		a.reads.Go(func() {
			// A failure reaches the group by its context.
			_ = a.group.Run(s.node.name, func(ctx context.Context) error { return s.readAll(ctx, readCtx) })
		})
		return nil
	})
}

// readAll reads and hands on until the source ends or is stopped.
func (s *sourceRun[T]) readAll(ctx, readCtx context.Context) error {
	defer s.cancel()
	for {
		var fetch Fetch[T]
		err := protect(s.node.name, Origin{}, func() (err error) {
			fetch, err = s.reader.Read(readCtx)
			return err
		})
		if readCtx.Err() != nil {
			s.abandon(fetch, ErrClosed) // also at the end of the source: a run that stops has no end
			return nil
		}
		if err != nil && err != io.EOF { //nolint:errorlint // one that is wrapped is a connection that broke, not the end
			s.abandon(fetch, err)
			return stageError(s.node.name, Origin{}, within("read", err))
		}
		more, handErr := s.hand(ctx, fetch)
		switch {
		case handErr != nil:
			return stageError(s.node.name, Origin{}, handErr)
		case !more:
			return nil
		case err != nil:
			return s.end(ctx)
		}
	}
}

// abandon counts what was read and will not be handed on.
func (s *sourceRun[T]) abandon(fetch Fetch[T], why error) {
	s.node.tally.In.Add(int64(fetch.Len() + len(fetch.Failed)))
	s.refuse(fetch, why)
}

// refuse counts what was counted as read and will not be handed on.
func (s *sourceRun[T]) refuse(fetch Fetch[T], why error) {
	s.node.tally.Abandoned.Add(int64(fetch.Len() + len(fetch.Failed)))
	if fetch.Drain != nil {
		fetch.Drain(why)
	}
}

// hand hands a fetch on once there is room for it, and says whether more is wanted. A drain is answered whatever
// happens.
func (s *sourceRun[T]) hand(ctx context.Context, fetch Fetch[T]) (more bool, err error) {
	n := fetch.Len() + len(fetch.Failed)
	if n == 0 && len(fetch.Position) == 0 && fetch.Drain == nil {
		return true, nil
	}
	s.node.tally.In.Add(int64(n))
	more, err = s.admitted(ctx, fetch, n)
	switch {
	case err != nil:
		s.refuse(fetch, err)
	case !more:
		s.refuse(fetch, ErrClosed)
	}
	return more, err
}

// admitted waits for room and hands a fetch of n records on, unless nothing more is wanted.
func (s *sourceRun[T]) admitted(ctx context.Context, fetch Fetch[T], n int) (more bool, err error) {
	if n > 0 && !hasToken(fetch.Position) {
		return false, errors.New("read: records without a position")
	}
	if err := s.handle.Admit(ctx, n); err != nil {
		if errors.Is(err, engine.ErrStopped) {
			return false, nil
		}
		return false, err
	}
	if err := s.takeTurn(ctx); err != nil {
		return false, err
	}
	defer s.endTurn()
	if s.last || s.ended {
		s.handle.Withdraw(n)
		return false, nil
	}
	if err := s.tracker.Advance(fetch.Position); err != nil {
		return false, fmt.Errorf("read: %w", err)
	}
	dropped, err := s.emit(ctx, fetch)
	if err != nil {
		return false, err
	}
	s.handle.Handed(n-dropped, dropped)
	if fetch.Drain != nil {
		s.handle.Drain(fetch.Drain)
	}
	return true, nil
}

// hasToken says whether any partition has moved and was not dropped.
func hasToken(pos checkpoint.Position) bool {
	for _, token := range pos {
		if token != nil {
			return true
		}
	}
	return false
}

// emit hands on the records of a fetch in batches, and gives those that could not be decoded to the error policy. It
// returns how many it dropped because their partition was given up.
func (s *sourceRun[T]) emit(ctx context.Context, fetch Fetch[T]) (dropped int, err error) {
	for _, f := range fetch.Failed {
		if err := s.errs.fail(ctx, f.Value, f.Meta, f.Err); err != nil {
			return 0, err
		}
	}
	if err := s.errs.end(); err != nil {
		return 0, err
	}
	for b := fetch.Batch; b.Len() > 0; {
		part := b.Slice(0, min(b.Len(), s.maxBatch))
		b = b.Slice(part.Len(), b.Len())
		n, err := passOwned(ctx, part, s.next)
		if err != nil {
			return 0, err
		}
		dropped += n
	}
	fetch.Batch.release()
	s.node.tally.Out.Add(int64(fetch.Len() - dropped))
	s.node.tally.Abandoned.Add(int64(dropped))
	return dropped, nil
}

// end lets the end travel, in front of the last marker.
func (s *sourceRun[T]) end(ctx context.Context) error {
	if err := s.takeTurn(ctx); err != nil {
		return err
	}
	defer s.endTurn()
	if s.ended || s.last {
		return nil
	}
	s.ended = true
	if err := s.control(ctx, engine.Control{Kind: engine.End}); err != nil {
		return err
	}
	s.handle.Ended()
	return nil
}

// markers emits each marker between two fetches, and reports the position there.
func (s *sourceRun[T]) markers(ctx context.Context) error {
	for {
		c, err := s.handle.Next(ctx)
		if err != nil {
			return err
		}
		if c.Kind == engine.End {
			if err := s.end(ctx); err != nil {
				return err
			}
			continue
		}
		if err := s.marker(ctx, c); err != nil || c.Last {
			return err
		}
	}
}

func (s *sourceRun[T]) marker(ctx context.Context, c engine.Control) error {
	if err := s.takeTurn(ctx); err != nil {
		return err
	}
	defer s.endTurn()
	if err := s.control(ctx, c); err != nil {
		return err
	}
	s.last = c.Last
	s.handle.Emitted(c.Number, s.tracker.Position())
	return nil
}

// takeTurn waits until nobody else emits.
func (s *sourceRun[T]) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *sourceRun[T]) endTurn() { <-s.turn }

func (s *sourceRun[T]) control(ctx context.Context, c engine.Control) error {
	if err := s.next.control(ctx, c); err != nil || s.dead == nil {
		return err
	}
	return s.dead.control(ctx, c)
}
