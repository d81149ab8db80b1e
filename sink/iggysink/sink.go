package iggysink

import (
	"context"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/codec"
)

// Sink writes the records of a pipeline through a [Producer], which is no one else's while it is open.
//
// It buffers as [Background] says, waits for room, and keeps the order in each partition. A marker is acknowledged when the server
// has stored everything before it; the pipeline goes on meanwhile. What cannot be written goes by the error policy of the sink, with
// a *[RecordError] for each record; nothing behind it is written until the pipeline has decided about it. A record that is tried
// again (runnel.Retry) is written behind those that were waiting by then.
//
// The sink is idempotent within a run, see [Idempotent]: a lost answer makes no duplicate. A run that starts anew repeats what comes
// after its checkpoint: at least once, as the graph of the pipeline says.
type Sink[T any] struct {
	p      *Producer
	encode func(runnel.Record[T]) (Message, error)
}

var (
	_ runnel.Sink[Message]   = (*Producer)(nil)
	_ runnel.Describer       = (*Producer)(nil)
	_ runnel.Validator       = (*Producer)(nil)
	_ runnel.Sink[int]       = (*Sink[int])(nil)
	_ runnel.Describer       = (*Sink[int])(nil)
	_ runnel.Validator       = (*Sink[int])(nil)
	_ runnel.Writer[Message] = (*writer[Message])(nil)
	_ runnel.Barrier         = (*writer[Message])(nil)
)

// Encode returns a sink that writes what the encoder makes of each record. An error of the encoder, or a panic in it, refuses the
// record alone. It is called by one goroutine at a time, and may use the memory of a payload again in the next call.
func Encode[T any](p *Producer, encode func(record runnel.Record[T]) (Message, error)) *Sink[T] {
	return &Sink[T]{p: p, encode: encode}
}

// JSON is [Encode] with the JSON text of the value, as encoding/json writes it.
func JSON[T any](p *Producer) *Sink[T] {
	appendJSON := codec.Encoder[T]()
	var text []byte
	return Encode(p, func(r runnel.Record[T]) (m Message, err error) {
		text, err = appendJSON(text[:0], &r.Value)
		m.Payload = text
		return m, err
	})
}

// Describe says what the sink is.
func (s *Sink[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "iggy"} }

// Validate returns every mistake in the options of the producer, and opens nothing.
func (s *Sink[T]) Validate() error {
	var errs []error
	if s.encode == nil {
		errs = append(errs, errors.New("iggysink: the encoder is nil"))
	}
	if s.p == nil {
		errs = append(errs, errors.New("iggysink: the producer is nil"))
	} else {
		errs = append(errs, s.p.Validate())
	}
	return errors.Join(errs...)
}

// Open makes the producer ready as [Producer.Init] does, and takes it until the writer is closed. The error is [ErrInPipeline] if it
// is open already, and wire.CodeProducerClosed behind [Producer.Shutdown].
func (s *Sink[T]) Open(ctx context.Context, env runnel.SinkEnv) (runnel.Writer[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := s.p
	if err := p.change(ctx); err != nil {
		return nil, fmt.Errorf("iggysink: %v: %w", p.home, err)
	}
	defer p.changed()
	before := p.state.Load()
	switch before {
	case statePipeline:
		return nil, ErrInPipeline
	case stateDown:
		return nil, closed("producer.open")
	}
	idempotent := p.idempotentIn(true)
	if err := p.prepare(ctx, idempotent, env.Log); err != nil {
		return nil, err
	}
	p.state.Store(statePipeline)
	w := newWriter(s, idempotent, func() { p.state.CompareAndSwap(statePipeline, before) })
	go w.work()
	return w, nil
}

// Open makes the producer the sink of messages: see [Sink.Open].
func (p *Producer) Open(ctx context.Context, env runnel.SinkEnv) (runnel.Writer[Message], error) {
	return Encode(p, func(r runnel.Record[Message]) (Message, error) { return r.Value, nil }).Open(ctx, env)
}

// Describe says what the producer is as a sink.
func (p *Producer) Describe() runnel.Traits { return runnel.Traits{Kind: "iggy"} }
