package iggysink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Init makes the producer ready to send: it connects the client and logs in if that has not happened, makes the stream and the
// topic if they are missing and have names, see [KeepStream] and [KeepTopic], and starts the workers of the background mode. That
// somebody else made them at the same moment is no error. It may be called again: after an error to try once more, and else
// without effect. Behind [Producer.Shutdown] it is [wire.CodeProducerClosed].
func (p *Producer) Init(ctx context.Context) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if err := p.change(ctx); err != nil {
		return err
	}
	defer p.changed()
	switch p.state.Load() {
	case stateDown:
		return closed(callInit)
	case stateNew:
	default:
		return nil
	}
	if err := p.prepare(ctx, p.idempotentIn(false), p.cfg.log); err != nil {
		return err
	}
	if p.cfg.background != nil && p.background == nil {
		p.background = newBackground(p, *p.cfg.background)
		p.background.start()
	}
	p.state.Store(stateReady)
	return nil
}

// prepare makes client and topic ready.
func (p *Producer) prepare(ctx context.Context, idempotent bool, log *slog.Logger) error {
	err := p.server.SignIn(ctx)
	if err == nil {
		err = p.ensureStream(ctx, log)
	}
	if err == nil {
		err = p.ensureTopic(ctx, log)
	}
	if err == nil && idempotent {
		err = p.home.sequences.identify(p.server)
	}
	if err != nil {
		return fmt.Errorf("iggysink: %v: %w", p.home, err)
	}
	return nil
}

func (p *Producer) ensureStream(ctx context.Context, log *slog.Logger) error {
	id := p.home.stream
	_, err := p.server.GetStream(ctx, id)
	if !client.NotFound(err) || id.Name == "" || p.cfg.keepStream {
		return err
	}
	if _, err = p.server.CreateStream(ctx, id.Name, client.StreamOptions{}); err == nil {
		log.Info("iggy stream made", "stream", id.Name)
	}
	if errors.Is(err, wire.CodeStreamNameAlreadyExists) {
		return nil
	}
	return err
}

func (p *Producer) ensureTopic(ctx context.Context, log *slog.Logger) error {
	id := p.home.topic
	_, err := p.server.GetTopic(ctx, p.home.stream, id)
	if !client.NotFound(err) || id.Name == "" || p.cfg.keepTopic {
		return err
	}
	if _, err = p.server.CreateTopic(ctx, p.home.stream, id.Name, p.cfg.partitions, p.cfg.topic); err == nil {
		log.Info("iggy topic made", "stream", p.home.stream.String(), "topic", id.Name, "partitions", p.cfg.partitions)
	}
	if errors.Is(err, wire.CodeTopicNameAlreadyExists) {
		return nil
	}
	return err
}

// Shutdown ends the producer: sends fail with [wire.CodeProducerClosed] from now on. In background mode it returns when everything
// buffered was written or given to [OnError], and every call of that has returned. If ctx ends first, what is not written yet goes
// to OnError, and Shutdown returns the cause without waiting for it; a further call waits. The client stays as it is. It may be
// called more than once.
func (p *Producer) Shutdown(ctx context.Context) error {
	if err := p.change(ctx); err != nil {
		return err
	}
	p.state.Store(stateDown)
	b := p.background
	p.changed()
	if b == nil {
		return nil
	}
	return b.shutdown(ctx)
}
