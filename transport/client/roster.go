package client

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// readRoster asks which nodes there are. A server that does not tell is one that is alone.
func (c *Client) readRoster(ctx context.Context, l *link) error {
	const command = wire.CmdGetClusterMetadata
	r, err := c.control(ctx, l, command, c.header(l, command), nil)
	if err != nil && l.conn.Err() == nil && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	cluster, err := wire.Decode[wire.ClusterMetadata](r.payload)
	if err != nil {
		return malformed(command.String(), l.addr, err)
	}
	seen := map[uint8]bool{}
	for _, node := range cluster.Nodes {
		if seen[node.ReplicaID] {
			return &Error{Code: wire.CodeInvalidFormat, Call: command.String(), Addr: l.addr, Err: wire.ErrDuplicate}
		}
		seen[node.ReplicaID] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roster = cluster.Nodes
	return nil
}

// dialers are the addresses of a sweep: the configured one, and if there are several nodes, theirs, leaders first.
func (c *Client) dialers() []transport.Dialer {
	found := []transport.Dialer{c.dialer}
	c.mu.Lock()
	nodes := c.roster
	c.mu.Unlock()
	if c.config.nodes == nil || len(nodes) < 2 {
		return found
	}
	for _, role := range []wire.NodeRole{wire.NodeLeader, wire.NodeFollower} {
		for i := range nodes {
			if d := c.nodeDialer(&nodes[i]); nodes[i].Role == role && d != nil {
				found = append(found, d)
			}
		}
	}
	return found
}

// nodeDialer dials a node over the transport of the configured address, or is nil if the node has it not.
func (c *Client) nodeDialer(node *wire.ClusterNode) transport.Dialer {
	port := node.TCP
	switch scheme, _, _ := strings.Cut(c.Addr(), "://"); scheme {
	case "quic":
		port = node.QUIC
	case "ws", "wss":
		port = node.WebSocket
	}
	if port == 0 {
		return nil
	}
	addr := net.JoinHostPort(node.Host, strconv.Itoa(int(port)))
	d, err := c.config.nodes(addr)
	if err != nil {
		c.config.logger.Warn("iggy: node of the cluster", "addr", addr, "err", err)
		return nil
	}
	return d
}
