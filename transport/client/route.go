package client

import (
	"context"
	"fmt"
	"sync"

	"github.com/runnel-go/runnel/transport/wire"
)

// Limits of the routes.
const (
	maxRoutes  = 4096
	maxLookUps = 16
)

// Partition names a partition of a topic.
type Partition struct {
	// Stream is the stream of the topic.
	Stream wire.Identifier
	// Topic is the topic.
	Topic wire.Identifier
	// ID is the partition.
	ID uint32
}

// String names it in words.
func (p Partition) String() string {
	return fmt.Sprintf("%s, partition %d", topicOf(p.Stream, p.Topic), p.ID)
}

func topicOf(stream, topic wire.Identifier) string {
	return fmt.Sprintf("stream %v, topic %v", stream, topic)
}

// check wants a partition of a topic that has a name or a number.
func (p Partition) check() *fault { return checkTopicID(p.Stream, p.Topic) }

// route is where a partition is, and which life of it.
type route struct {
	context    wire.PartitionContext // without an ownership
	view       uint32
	primary    uint8
	partitions uint32
}

// routes keeps the routes that were asked for.
type routes struct {
	mu      sync.Mutex
	known   map[Partition]route   // guarded by mu
	looking map[Partition]*lookUp // guarded by mu
	slots   chan struct{}         // holds one for each look-up at work
}

// lookUp is a question that is asked once for all who want to know.
type lookUp struct {
	done   chan struct{}
	route  route
	err    error
	gaveUp bool // who asked had no more time
}

func (r *routes) init() {
	r.known = map[Partition]route{}
	r.looking = map[Partition]*lookUp{}
	r.slots = make(chan struct{}, maxLookUps)
}

// clear forgets all routes.
func (r *routes) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.known)
}

// forget forgets a route.
func (r *routes) forget(p Partition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, p)
}

// begin returns a route that is known and good enough, or a look-up: a new one if mine is true.
func (r *routes) begin(p Partition, watermark uint64, view uint32) (found route, l *lookUp, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.known[p]
	if ok && found.context.MetadataOp >= watermark && found.view >= view {
		return found, nil, false
	}
	if l := r.looking[p]; l != nil {
		return route{}, l, false
	}
	l = &lookUp{done: make(chan struct{})}
	r.looking[p] = l
	return route{}, l, true
}

// end hands a route to all who wait for it, and keeps it.
func (r *routes) end(p Partition, l *lookUp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.looking, p)
	if l.err == nil {
		for old := range r.known {
			if len(r.known) < maxRoutes {
				break
			}
			delete(r.known, old) // any one: it is asked for again if it is needed
		}
		r.known[p] = l.route
	}
	close(l.done)
}

// findRoute returns the route of a partition, with at least a view. Over HTTP there are none.
func (c *Client) findRoute(ctx context.Context, lineage uint64, p Partition, view uint32) (route, error) {
	if c.sessionless {
		return route{}, nil
	}
	pause := c.newPause()
	for {
		found, l, mine := c.routes.begin(p, c.watermark.Load(), view)
		if l == nil {
			return found, nil
		}
		if mine {
			l.route, l.err = c.askRoute(ctx, lineage, p)
			l.gaveUp = ctx.Err() != nil
			c.routes.end(p, l)
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return route{}, &Error{
				Code: wire.CodeTransientNotAccepted, Call: wire.CmdGetPartitionRoute.String(), Err: context.Cause(ctx),
			}
		}
		switch {
		case l.err == nil && l.route.view >= view:
			return l.route, nil
		case l.err != nil && (mine || !l.gaveUp):
			return route{}, l.err
		}
		if l.err == nil && !pause.wait(ctx) {
			return route{}, &Error{
				Code: wire.CodeNotPrimary, Call: wire.CmdGetPartitionRoute.String(), Err: context.Cause(ctx),
			}
		}
	}
}

func (c *Client) askRoute(ctx context.Context, lineage uint64, p Partition) (route, error) {
	const command = wire.CmdGetPartitionRoute
	select {
	case c.routes.slots <- struct{}{}:
	case <-ctx.Done():
		return route{}, &Error{Code: wire.CodeTransientNotAccepted, Call: command.String(), Err: context.Cause(ctx)}
	}
	defer func() { <-c.routes.slots }()
	q := &query{
		command: command, lineage: lineage,
		body: &wire.GetPartitionRoute{Stream: p.Stream, Topic: p.Topic, Partition: p.ID},
	}
	r, err := c.ask(ctx, q)
	if err != nil {
		return route{}, err
	}
	is, err := wire.Decode[wire.PartitionRoute](r.payload)
	if err != nil {
		return route{}, malformed(command.String(), c.Addr(), err)
	}
	return route{
		context:    wire.PartitionContext{Incarnation: is.Incarnation, MetadataOp: is.MetadataOp},
		view:       is.View,
		primary:    is.Primary,
		partitions: is.PartitionsCount,
	}, nil
}

// Primary returns the number of the node that a partition is read from and written to, and how many partitions its topic has.
// Over HTTP it is [wire.CodeFeatureUnavailable].
func (c *Client) Primary(ctx context.Context, p Partition) (replica uint8, partitions uint32, err error) {
	if err := c.checkSessions(wire.CmdGetPartitionRoute); err != nil {
		return 0, 0, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	r, err := c.findRoute(ctx, c.begin(), p, 0)
	return r.primary, r.partitions, err
}
