package client

import (
	"context"
	"sync"

	"github.com/runnel-go/runnel/transport/wire"
)

// groups are those that the session is a member of, as far as the client knows.
type groups struct {
	mu     sync.Mutex
	joined map[wire.GroupOf]bool // guarded by mu
}

func (g *groups) set(of wire.GroupOf, joined bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.joined == nil {
		g.joined = map[wire.GroupOf]bool{}
	}
	if joined {
		g.joined[of] = true
	} else {
		delete(g.joined, of)
	}
}

func (g *groups) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.joined)
}

func (g *groups) list() []wire.GroupOf {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]wire.GroupOf, 0, len(g.joined))
	for of := range g.joined {
		all = append(all, of)
	}
	return all
}

// JoinConsumerGroup makes the session a member of a group. When the client has to begin a new session it joins again by
// itself, before any other call is sent. Over HTTP it is [wire.CodeFeatureUnavailable].
func (c *Client) JoinConsumerGroup(ctx context.Context, of wire.GroupOf) error {
	if err := c.checkSessions(wire.CmdJoinConsumerGroup); err != nil {
		return err
	}
	c.groups.set(of, true) // first, as the session may be replaced right behind the reply
	_, err := call[wire.Empty](ctx, c, wire.CmdJoinConsumerGroup, &wire.JoinConsumerGroup{GroupOf: of})
	if err != nil && CodeOf(err) != wire.CodeOperationUncertain {
		c.groups.set(of, false)
	}
	return err
}

// LeaveConsumerGroup ends the membership of the session in a group. Over HTTP it is [wire.CodeFeatureUnavailable].
func (c *Client) LeaveConsumerGroup(ctx context.Context, of wire.GroupOf) error {
	if err := c.checkSessions(wire.CmdLeaveConsumerGroup); err != nil {
		return err
	}
	c.groups.set(of, false)
	_, err := call[wire.Empty](ctx, c, wire.CmdLeaveConsumerGroup, &wire.LeaveConsumerGroup{GroupOf: of})
	return err
}

// rejoin joins the groups of the session before. A group that is gone is forgotten: who reads it learns that from the server.
func (c *Client) rejoin(ctx context.Context, l *link) error {
	const command = wire.CmdJoinConsumerGroup
	for _, of := range c.groups.list() {
		h := c.header(l, command)
		h.Checksum = random128()
		frame, err := wire.AppendRequest(nil, h, &wire.JoinConsumerGroup{GroupOf: of})
		if err != nil {
			return malformed(command.String(), l.addr, err)
		}
		r, err := c.registerFrame(ctx, l, command, &h, frame)
		switch {
		case err == nil:
			c.raiseWatermark(r.header.Commit)
		case r.code == 0:
			return err
		default:
			c.groups.set(of, false)
			c.config.logger.Warn("iggy: group not joined again", "group", of.Group.String(), "err", err)
		}
	}
	return nil
}
