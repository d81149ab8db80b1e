package iggysource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/codec"
	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/runnel-go/runnel/transport/wire"
)

// source reads what a consumer reads, decoded.
type source[T any] struct {
	c      *Consumer
	kind   string
	decode func() func(m Message, to *T) error // a decoder for one reader
	errs   []error
}

var (
	_ runnel.Source[Message] = (*Consumer)(nil)
	_ runnel.Describer       = (*Consumer)(nil)
	_ runnel.Validator       = (*Consumer)(nil)
	_ runnel.Source[string]  = (*source[string])(nil)
	_ runnel.Describer       = (*source[string])(nil)
	_ runnel.Validator       = (*source[string])(nil)
)

// Decode makes a source of a consumer by a function that reads a message. An error makes it a failed record, whose value is the
// payload. The message stays valid behind the call.
func Decode[T any](c *Consumer, decode func(m Message) (T, error)) runnel.Source[T] {
	s := &source[T]{c: c, kind: "iggy", decode: func() func(Message, *T) error {
		return func(m Message, to *T) (err error) {
			*to, err = decode(m)
			return err
		}
	}}
	if decode == nil {
		s.errs = append(s.errs, errors.New("Decode has no function"))
	}
	return s
}

// JSON makes a source of a consumer whose payloads are JSON texts. The results are those of encoding/json. Short strings share
// blocks of 4 KiB: who keeps a few of many copies them with strings.Clone.
func JSON[T any](c *Consumer) runnel.Source[T] {
	return &source[T]{c: c, kind: "iggy", decode: func() func(Message, *T) error {
		read := codec.PackingDecoder[T]()
		return func(m Message, to *T) error { return read(m.Payload, to) }
	}}
}

// plain is the source of messages as they are.
func (c *Consumer) plain() *source[Message] {
	return &source[Message]{c: c, kind: "iggy", decode: func() func(Message, *Message) error {
		return func(m Message, to *Message) error {
			*to = m
			return nil
		}
	}}
}

// Open reads for a pipeline until the reader is closed. Listed partitions go on where from says, those of a group where its
// offsets do; the start option says where others begin. While it is open, the calls for using the consumer alone return
// [ErrInPipeline].
func (c *Consumer) Open(
	ctx context.Context, env runnel.SourceEnv, from checkpoint.Position,
) (runnel.Reader[Message], error) {
	return c.plain().Open(ctx, env, from)
}

// Describe says that messages can be read again, and that a group moves partitions and keeps their positions.
func (c *Consumer) Describe() runnel.Traits { return c.plain().Describe() }

// Validate returns every mistake in the options, among them those that are none for a consumer that is used alone.
func (c *Consumer) Validate() error { return c.plain().Validate() }

// Describe is that of the consumer.
func (s *source[T]) Describe() runnel.Traits {
	t := runnel.Traits{Kind: s.kind, Replay: true}
	if s.c != nil && s.c.cfg.group {
		t.Moving, t.RebalanceTimeout = true, s.c.cfg.rebalanceTimeout
	}
	return t
}

// Validate returns every mistake in the options and in how the source was made of the consumer.
func (s *source[T]) Validate() error {
	errs := slices.Clone(s.errs)
	if s.c == nil {
		return errors.Join(append(errs, errors.New("iggysource: the consumer is nil"))...)
	}
	errs = append(errs, s.c.faults()...)
	errs = append(errs, s.c.cfg.checkPipeline()...)
	for i, err := range errs {
		errs[i] = fmt.Errorf("iggysource: %s/%s: %w", s.c.cfg.stream, s.c.cfg.topic, err)
	}
	return errors.Join(errs...)
}

// Open opens the consumer for a pipeline.
func (s *source[T]) Open(
	ctx context.Context, env runnel.SourceEnv, from checkpoint.Position,
) (runnel.Reader[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	env = withDefaults(env)
	f, err := s.c.claim(true, newFeed(s.c.api, s.c.cfg, env.Log, env.Name))
	if err != nil {
		return nil, err
	}
	if err := f.openAt(ctx, from); err != nil {
		f.close()
		err = errors.Join(err, f.leaveGroup(context.WithoutCancel(ctx)))
		s.c.giveBack(false)
		return nil, s.c.wrap("open", err)
	}
	r := &reader[T]{consumer: s.c, feed: f, decode: s.decode(), max: env.MaxBatch}
	if f.cfg.until.IsZero() {
		f.begin(ctx)
		return r, nil
	}
	r.untilMicros = uint64(max(0, f.cfg.until.UnixMicro()))
	f.begin(ctx, func(ctx context.Context) { f.awaitEnds(ctx, env.Clock) })
	return r, nil
}

// withDefaults fills in what a caller other than a pipeline may leave out.
func withDefaults(env runnel.SourceEnv) runnel.SourceEnv {
	if env.Name == "" {
		env.Name = "iggy"
	}
	if env.MaxBatch < 1 {
		env.MaxBatch = 1024
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	if env.Clock == nil {
		env.Clock = wallclock.Clock{}
	}
	return env
}

// openAt makes a feed ready, whose listed partitions begin where from says.
func (f *feed) openAt(ctx context.Context, from checkpoint.Position) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	for name, token := range from {
		if err := f.resume(name, token); err != nil {
			return err
		}
	}
	if !f.cfg.group {
		if err := f.chooseStart(ctx, from); err != nil {
			return err
		}
	}
	if f.cfg.untilNow {
		return f.findEnds(ctx)
	}
	return nil
}

// resume lets a listed partition begin at a position. One that is not listed any more is left.
func (f *feed) resume(name string, token []byte) error {
	id, err := partitionNamed(name)
	if err != nil {
		return err
	}
	next, under, err := decodeToken(token)
	if err != nil {
		return fmt.Errorf("partition %s: %w", name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.cursors[id]
	if c == nil || f.cfg.group {
		f.log.Warn("iggy: the position of a partition that is not read is left", "partition", name)
		return nil
	}
	c.strategy, c.known = FromOffset(next), next
	c.under = wire.PartitionContext{Incarnation: under.Incarnation}
	return nil
}

// chooseStart finds the offsets where listed partitions without a position begin.
func (f *feed) chooseStart(ctx context.Context, from checkpoint.Position) error {
	for _, c := range f.order { // nothing else runs yet
		if _, ok := from[partitionName(c.id)]; ok {
			continue
		}
		next, err := f.placeOf(ctx, c.id, c.under, c.strategy)
		if err != nil {
			return err
		}
		c.strategy = FromOffset(next)
	}
	return nil
}

// leaveGroup leaves the group within the offset drain time-out.
func (f *feed) leaveGroup(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.cfg.drainTimeout, errDrain)
	defer cancel()
	return f.leave(ctx)
}
