package runnel

import (
	"context"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// sinkNode is a sink, with all streams and dead letters that lead to it.
type sinkNode[T any] struct {
	*node
	sink Sink[T]

	in  port[T] // of the attempt, like all below
	run *sinkRun[T]
}

func (n *sinkNode[T]) reset() { n.in, n.run = port[T]{}, nil }

// open opens the writer and checks that it is what the sink declared.
func (n *sinkNode[T]) open(ctx context.Context, a *attempt) error {
	env := SinkEnv{
		Name: n.name, Log: a.p.cfg.log.With("sink", n.name), Clock: a.p.cfg.clock, Durable: a.p.durable(),
	}
	if a.from != nil {
		env.From, env.Prepared = a.from.Number, preparedToken(a.from, n.name)
	}
	s := &sinkRun[T]{node: n.node}
	err := protect(n.name, Origin{}, func() (err error) {
		s.writer, err = n.sink.Open(ctx, env)
		return err
	})
	if err == nil && isNil(s.writer) {
		err = errors.New("it returned no writer")
	}
	if err != nil {
		return stageError(n.name, Origin{}, fmt.Errorf("open: %w", err))
	}
	s.tx, _ = s.writer.(Transactional)
	s.decider, _ = s.writer.(Decider)
	if s.tx == nil && s.decider == nil {
		s.barrier, _ = s.writer.(Barrier)
	}
	a.writers = append(a.writers, closer{name: n.name, close: s.writer.Close, abandon: s.aborter()})
	if got := (s.tx != nil); got != n.traits.Transactional {
		return stageError(n.name, Origin{}, fmt.Errorf("its writer is transactional: %t, but the sink says: %t", got, n.traits.Transactional))
	}
	if got := (s.decider != nil); got != n.traits.Decides {
		return stageError(n.name, Origin{}, fmt.Errorf("its writer decides: %t, but the sink says: %t", got, n.traits.Decides))
	}
	s.handle = a.coordinator.AddSink(engine.SinkConfig{
		Name: n.name, Waits: s.tx != nil || s.decider != nil, Decides: s.decider != nil,
	})
	n.run = s
	return nil
}

// preparedToken returns what a sink prepared for a checkpoint: nil only if it prepared nothing, also where a store does
// not tell an empty token from none.
func preparedToken(c *checkpoint.Checkpoint, sink string) []byte {
	token, ok := c.Sinks[sink]
	if ok && token == nil {
		token = []byte{}
	}
	return token
}

func (n *sinkNode[T]) decided(ctx context.Context) (checkpoint.Number, error) {
	return n.run.decided(ctx)
}

// receiver adds an input to the task of the sink.
func (n *sinkNode[T]) receiver(a *attempt, _ *engine.Task, from *engine.Tally) (receiver[T], error) {
	return n.in.edge(a, n.node, from, func(a *attempt, in *engine.Task) (receiver[T], error) {
		dead, err := a.deadLetters(n.node, in)
		if err != nil {
			return nil, err
		}
		n.run.dead, n.run.errs = dead, a.policy(n.node, dead)
		if n.run.barrier != nil {
			n.run.late = newLateAcks()
			in.SetWaker(n.run)
		}
		return n.run, nil
	})
}

// sinkRun is an open sink.
type sinkRun[T any] struct {
	node    *node
	writer  Writer[T]
	tx      Transactional // nil if it is not
	decider Decider       // nil if it does not
	barrier Barrier       // nil if it acknowledges by Flush
	handle  *engine.Sink
	dead    receiver[Failed]
	errs    *policy
	late    *lateAcks // with barrier
}

// aborter returns what gives up the open transaction.
func (s *sinkRun[T]) aborter() func(context.Context, error) error {
	if s.tx == nil {
		return nil
	}
	return func(ctx context.Context, _ error) error { return s.tx.Abort(ctx) }
}

// process writes a batch.
func (s *sinkRun[T]) process(ctx context.Context, in Batch[T]) error {
	s.node.tally.In.Add(int64(in.Len()))
	s.node.calls.Add(1)
	defer s.node.calls.Add(-1)
	err := protect(s.node.name, in.first(), func() error { return s.writer.Write(ctx, in) })
	if err != nil {
		err = s.settle(ctx, err, in, nil)
	}
	if err != nil {
		return stageError(s.node.name, in.first(), err)
	}
	return nil
}

// settle brings a write that failed to an end: what may be tried again is, what is refused for good goes by the error
// policy. again repeats a flush; without it, in is written again.
func (s *sinkRun[T]) settle(ctx context.Context, err error, in Batch[T], again func() error) error {
	wait := s.errs.backoff
	for tried := 1; err != nil; tried++ {
		s.node.tally.Failed.Add(1)
		var batch *BatchError[T]
		if errors.As(err, &batch) {
			if err = s.refuse(ctx, batch, tried); err != nil {
				return err
			}
			in = batchOf(batch.Failed)
		} else if tried >= s.errs.attempts || !s.mayRepeat(err) {
			return s.givenUp(err, tried)
		}
		if in.Len() > 0 || batch == nil {
			if !s.errs.pause(ctx, wait) {
				return context.Cause(ctx)
			}
			wait *= 2
		}
		in, err = s.repeat(ctx, in, again)
	}
	return nil
}

// repeat writes the records that are left, and flushes if that is what failed. It returns what is still to be written:
// nothing once the write has succeeded, whatever becomes of the flush.
func (s *sinkRun[T]) repeat(ctx context.Context, in Batch[T], again func() error) (left Batch[T], err error) {
	err = protect(s.node.name, in.first(), func() error {
		if in.Len() > 0 {
			if err := s.writer.Write(ctx, in); err != nil {
				return err
			}
		}
		if in = (Batch[T]{}); again == nil {
			return nil
		}
		return again()
	})
	return in, err
}

// refuse takes the records out of a batch error that are not to be tried again, and gives them to the error policy.
func (s *sinkRun[T]) refuse(ctx context.Context, batch *BatchError[T], tried int) error {
	if batch == nil || len(batch.Failed)+len(batch.Errs) == 0 {
		return errors.New("its writer returned a BatchError of no record")
	}
	if len(batch.Errs) != len(batch.Failed) {
		return fmt.Errorf("a BatchError with %d records and %d errors", len(batch.Failed), len(batch.Errs))
	}
	if s.late != nil {
		// A dead letter of now must not come before the markers that are still open here.
		if err := s.awaitLate(ctx); err != nil {
			return err
		}
	}
	var left []Record[T]
	for i, r := range batch.Failed {
		cause := batch.Errs[i]
		if tried < s.errs.attempts && s.mayRepeat(cause) {
			left = append(left, r)
			continue
		}
		s.errs.tried = tried
		if tried < s.errs.attempts && !canceled(cause) && s.dead == nil && !s.errs.skip {
			cause = fmt.Errorf("%w%s", cause, notRetried)
		}
		if err := s.errs.fail(ctx, r.Value, r.Meta, cause); err != nil {
			return err
		}
	}
	batch.Failed = left
	return s.errs.end()
}

const notRetried = " (not retried: the sink is neither idempotent nor transactional, and the error is not Retryable)"

// givenUp says of an error why it was not tried again.
func (s *sinkRun[T]) givenUp(err error, tried int) error {
	switch {
	case canceled(err):
	case tried < s.errs.attempts:
		err = fmt.Errorf("%w%s", err, notRetried)
	case tried > 1:
		err = fmt.Errorf("after %d attempts: %w", tried, err)
	}
	return err
}

// mayRepeat says whether a write may be tried again.
func (s *sinkRun[T]) mayRepeat(err error) bool {
	if canceled(err) {
		return false
	}
	return Retryable(err) || s.node.traits.Idempotent || s.tx != nil
}

func batchOf[T any](records []Record[T]) Batch[T] {
	values, meta := make([]T, len(records)), make([]Meta, len(records))
	for i, r := range records {
		values[i], meta[i] = r.Value, r.Meta
	}
	return NewBatch(values, meta)
}

// control makes what was written durable at a marker and acknowledges it.
func (s *sinkRun[T]) control(ctx context.Context, c engine.Control) error {
	if c.Kind == engine.End {
		return s.pass(ctx, c)
	}
	var err error
	switch {
	case s.tx != nil:
		err = s.transact(ctx, c)
	case s.decider != nil:
		err = s.decide(ctx, c)
	case s.barrier != nil:
		err = s.acknowledgeLater(ctx, c)
	default:
		err = s.acknowledge(ctx, c)
	}
	if err != nil {
		return stageError(s.node.name, Origin{}, err)
	}
	return nil
}

// pass hands a control item to the dead letters of the sink, behind those of the records before it.
func (s *sinkRun[T]) pass(ctx context.Context, c engine.Control) error {
	if s.dead == nil {
		return nil
	}
	return s.dead.control(ctx, c)
}

// attempt calls a method of the writer that concerns everything written, and again as the error policy says.
func (s *sinkRun[T]) attempt(ctx context.Context, f func() error) error {
	s.node.calls.Add(1)
	defer s.node.calls.Add(-1)
	err := protect(s.node.name, Origin{}, f)
	if err != nil {
		err = s.settle(ctx, err, Batch[T]{}, f)
	}
	return err
}

// within says what failed, unless the error has its place already.
func within(what string, err error) error {
	if _, ok := err.(*StageError); ok {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// acknowledge flushes.
func (s *sinkRun[T]) acknowledge(ctx context.Context, c engine.Control) error {
	if err := s.attempt(ctx, func() error { return s.writer.Flush(ctx) }); err != nil {
		return within("flush", err)
	}
	if err := s.pass(ctx, c); err != nil {
		return err
	}
	s.handle.Ack(c.Number, nil)
	return nil
}

// transact prepares, and commits once the checkpoint is decided. Nothing is written in between.
func (s *sinkRun[T]) transact(ctx context.Context, c engine.Control) error {
	var token []byte
	err := s.attempt(ctx, func() (err error) {
		token, err = s.tx.Prepare(ctx, c.Number)
		return err
	})
	if err != nil {
		return within(fmt.Sprintf("prepare checkpoint %d", c.Number), err)
	}
	if err := s.pass(ctx, c); err != nil {
		return err
	}
	s.handle.Ack(c.Number, token)
	if _, err := s.handle.Turn(ctx); err != nil {
		return err
	}
	err = s.attempt(ctx, func() error { return s.tx.Commit(ctx, c.Number, token) })
	if err != nil {
		err = within(fmt.Sprintf("commit checkpoint %d", c.Number), err)
	}
	s.handle.Done(err)
	return err
}

// decide completes the checkpoint with the sink's own transaction.
func (s *sinkRun[T]) decide(ctx context.Context, c engine.Control) error {
	if err := s.attempt(ctx, func() error { return s.writer.Flush(ctx) }); err != nil {
		return within("flush", err)
	}
	if err := s.pass(ctx, c); err != nil {
		return err
	}
	s.handle.Ack(c.Number, nil)
	cp, err := s.handle.Turn(ctx)
	if err != nil {
		return err
	}
	err = protect(s.node.name, Origin{}, func() error { return s.decider.Decide(ctx, cp) })
	if err != nil {
		err = s.outcome(ctx, c.Number, err)
	}
	s.handle.Done(err)
	return err
}

// decided asks the writer for the newest checkpoint that it has decided.
func (s *sinkRun[T]) decided(ctx context.Context) (decided checkpoint.Number, err error) {
	err = protect(s.node.name, Origin{}, func() (err error) {
		decided, err = s.decider.Decided(ctx)
		return err
	})
	return decided, err
}

// outcome asks for the outcome of a decision that failed and may have been made all the same.
func (s *sinkRun[T]) outcome(ctx context.Context, n checkpoint.Number, cause error) error {
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	decided, err := s.decided(ask)
	switch {
	case err != nil:
		return fmt.Errorf("decide checkpoint %d: %w (and its outcome is unknown: %w)", n, cause, err)
	case decided >= n:
		return nil
	}
	return fmt.Errorf("decide checkpoint %d: %w", n, cause)
}
