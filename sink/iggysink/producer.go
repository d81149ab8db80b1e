package iggysink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Producer sends messages to a topic: on its own, with [Producer.Init] and [Producer.Send], or as the sink of a pipeline. It is
// safe for concurrent use. The package says how it works.
type Producer struct {
	server server
	cfg    config
	home   *topic
	counts counters

	state    atomic.Int32  // a state
	changing chan struct{} // holds one while the state changes
	since    time.Time
	lastSent atomic.Int64  // the last send of the direct mode that was done, by the time since since; 0 for none
	fenced   atomic.Bool   // another copy of an idempotent producer took over
	own      ownOperations // with an uncertain outcome

	background *background // set before the state is ready; nil in direct mode

	mu     sync.Mutex
	topics map[[2]wire.Identifier]*topic // beside home; guarded by mu
}

// server is what a producer needs of a client.
type server interface {
	SignIn(ctx context.Context) error
	Sessionless() bool
	CallTimeout() time.Duration
	GetStream(ctx context.Context, stream wire.Identifier) (wire.StreamDetails, error)
	CreateStream(ctx context.Context, name string, options client.StreamOptions) (wire.StreamDetails, error)
	GetTopic(ctx context.Context, stream, topic wire.Identifier) (wire.TopicDetails, error)
	CreateTopic(
		ctx context.Context, stream wire.Identifier, name string, partitions uint32, options client.TopicOptions,
	) (wire.TopicDetails, error)
	Primary(ctx context.Context, of client.Partition) (replica uint8, partitions uint32, err error)
	NextProducerID() (uint64, error)
	Send(
		ctx context.Context, to client.Partition, producer *wire.Producer, messages []wire.Message,
	) (at wire.Confirmation, found bool, err error)
	SendPartitioned(ctx context.Context, stream, topic wire.Identifier, by wire.Partitioning, messages []wire.Message) error
	ResolveOperation(ctx context.Context, operation uint64) ([]byte, error)
	AbandonOperation(operation uint64) error
}

var _ server = (*client.Client)(nil)

// The states of a producer.
const (
	stateNew int32 = iota
	stateReady
	statePipeline
	stateDown
)

// NewProducer returns a producer for a topic. The client is the caller's, who shuts it down when nothing uses it any more; it need
// not be connected yet. Mistakes in the options are returned by [Producer.Init], and by Validate.
func NewProducer(c *client.Client, stream, topic wire.Identifier, options ...Option) *Producer {
	if c == nil {
		p := newProducer(nil, stream, topic, options)
		p.cfg.refuse(true, "the client is nil")
		return p
	}
	return newProducer(c, stream, topic, options)
}

func newProducer(s server, stream, to wire.Identifier, options []Option) *Producer {
	p := &Producer{
		server: s, cfg: newConfig(options), home: &topic{stream: stream, topic: to},
		changing: make(chan struct{}, 1), topics: map[[2]wire.Identifier]*topic{},
		since: time.Now().Add(-time.Second), // so that no send is at 0
	}
	if s != nil && s.Sessionless() && p.cfg.idempotent != nil && *p.cfg.idempotent {
		p.cfg.invalid = append(p.cfg.invalid, fmt.Errorf("Idempotent: %w",
			&client.Error{Code: wire.CodeFeatureUnavailable, Call: callInit, Err: errors.New("it needs a transport with sessions")}))
	}
	return p
}

// Validate returns every mistake in the options, and opens nothing.
func (p *Producer) Validate() error {
	if err := p.cfg.mistakes(); err != nil {
		return fmt.Errorf("iggysink: %v: %w", p.home, err)
	}
	return nil
}

// Stats returns what the producer did so far, alone and in pipelines.
func (p *Producer) Stats() Stats { return p.counts.stats() }

// String names the topic.
func (p *Producer) String() string { return p.home.String() }

// topicOf returns the topic of a name, with what is known of it.
func (p *Producer) topicOf(stream, to wire.Identifier) *topic {
	if stream == p.home.stream && to == p.home.topic {
		return p.home
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]wire.Identifier{stream, to}
	t := p.topics[key]
	if t == nil {
		t = &topic{stream: stream, topic: to}
		p.topics[key] = t
	}
	return t
}

// usable says why nothing can be sent.
func (p *Producer) usable() error {
	switch p.state.Load() {
	case stateReady:
		return nil
	case statePipeline:
		return ErrInPipeline
	case stateDown:
		return closed(callSend)
	}
	return ErrNotInitialized
}

// idempotentIn says whether sends are idempotent, in a pipeline or alone.
func (p *Producer) idempotentIn(pipeline bool) bool {
	if p.cfg.idempotent != nil {
		return *p.cfg.idempotent
	}
	return pipeline && !p.server.Sessionless()
}

// change makes the caller the only one that changes the state.
func (p *Producer) change(ctx context.Context) error {
	select {
	case p.changing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *Producer) changed() { <-p.changing }
