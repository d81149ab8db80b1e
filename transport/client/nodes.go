package client

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// errNoSession is why another node is not dialled: there is nothing to bind there.
var errNoSession = errors.New("nobody is logged in")

// nodes keeps links to the other nodes of a cluster while the link that logged in lives. A server that is alone has no
// others. They are bound to the same session; changes of metadata and reads go to the leader, what is of a partition to its
// primary. Without a link to that node it goes over the link that logged in, whose server says so if it cannot.
type nodes struct {
	client *Client
	kept   map[uint8]bool // nodes that have a goroutine; for the goroutine of the link
	tasks  sync.WaitGroup
}

// tend begins to keep links to nodes that have none.
func (n *nodes) tend(ctx context.Context, home *link) {
	for replica, dialer := range n.client.otherNodes(home) {
		if !n.kept[replica] {
			n.kept[replica] = true
			n.tasks.Go(func() { n.client.keepNode(ctx, replica, dialer) })
		}
	}
}

// otherNodes are the nodes of the roster but the one that home leads to: the one with its address, or else the leader.
func (c *Client) otherNodes(home *link) map[uint8]transport.Dialer {
	c.mu.Lock()
	roster := c.roster
	c.mu.Unlock()
	if c.config.nodes == nil || len(roster) < 2 {
		return nil
	}
	others := map[uint8]transport.Dialer{}
	var here, leader *wire.ClusterNode
	for i := range roster {
		node := &roster[i]
		if node.Role == wire.NodeLeader {
			leader = node
		}
		d := c.nodeDialer(node)
		switch {
		case d == nil:
		case hostOf(d.Addr()) == hostOf(home.addr):
			here = node
		default:
			others[node.ReplicaID] = d
		}
	}
	if here == nil && leader != nil {
		delete(others, leader.ReplicaID)
	}
	return others
}

// hostOf is what stands behind the scheme.
func hostOf(addr string) string {
	_, host, found := strings.Cut(addr, "://")
	if !found {
		return addr
	}
	return host
}

// keepNode keeps a link to another node until ctx ends.
func (c *Client) keepNode(ctx context.Context, replica uint8, d transport.Dialer) {
	for attempt := 0; ; attempt++ {
		l, err := c.dialNode(ctx, d)
		if err == nil {
			since := time.Now()
			c.setNode(replica, l)
			err = c.watchNode(ctx, l)
			c.setNode(replica, nil)
			_ = l.conn.Close() // why it ended is known
			if time.Since(since) >= c.config.reestablishAfter {
				attempt = 0
			}
		}
		c.config.logger.Info("iggy: no link to a node", "addr", d.Addr(), "err", err)
		if !sleep(ctx, c.config.jitter(reconnectPause(c.config.interval, attempt))) {
			return
		}
	}
}

// dialNode returns a link to another node that is bound to the session.
func (c *Client) dialNode(ctx context.Context, d transport.Dialer) (*link, error) {
	s, _ := c.identity()
	if s == nil || s.number == 0 {
		return nil, errNoSession
	}
	conn, err := d.Dial(ctx)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, addr: d.Addr()}
	if l.session, err = c.bind(ctx, l, s); err != nil {
		_ = conn.Close() // there is an error already
		return nil, err
	}
	return l, nil
}

// watchNode pings a link until it has ended or its session is not that of the client any more.
func (c *Client) watchNode(ctx context.Context, l *link) error {
	beat := time.NewTicker(c.config.heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.conn.Done():
			return l.conn.Err()
		case <-beat.C:
		}
		if s, _ := c.identity(); s == nil || s.client != l.session.client {
			return errNoSession
		}
		if err := c.pingWithin(ctx, l); err != nil {
			return err
		}
	}
}

func (c *Client) setNode(replica uint8, l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l == nil {
		delete(c.nodes, replica)
		return
	}
	if c.nodes == nil {
		c.nodes = map[uint8]*link{}
	}
	c.nodes[replica] = l
}

// toward returns the link to the primary of a partition, or to the leader if it is about none, if there is a link of the
// session of home to that node; or else home.
func (c *Client) toward(home *link, partition bool, of route) *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.nodes) == 0 {
		return home
	}
	replica := of.primary
	for i := range c.roster {
		if !partition && c.roster[i].Role == wire.NodeLeader {
			replica = c.roster[i].ReplicaID
		}
	}
	l := c.nodes[replica]
	if l == nil || l.session.client != home.session.client || l.conn.Err() != nil {
		return home
	}
	return l
}

// leaderMoved reads the roster again when a node does not take what only the leader does.
func (c *Client) leaderMoved(ctx context.Context, l *link) {
	c.mu.Lock()
	alone := len(c.roster) < 2
	c.mu.Unlock()
	if !alone {
		_ = c.readRoster(ctx, l) // the old one serves until the next attempt
	}
}

// isFollower says whether a link leads to a node that is not the leader of its cluster.
func (c *Client) isFollower(l *link) bool {
	c.mu.Lock()
	roster := c.roster
	c.mu.Unlock()
	if c.config.nodes == nil || len(roster) < 2 {
		return false
	}
	for i := range roster {
		if roster[i].Role == wire.NodeLeader {
			d := c.nodeDialer(&roster[i])
			return d != nil && hostOf(d.Addr()) != hostOf(l.addr)
		}
	}
	return false
}
