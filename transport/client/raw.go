package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// Reasons why a raw request is refused, with nothing sent.
var (
	// ErrSessionCommand is the cause for a command that begins, binds or ends a session, or ends a wait: the client would not
	// know of it. Use [Client.Login], [Client.LoginWithToken], [Client.Logout], and contexts.
	ErrSessionCommand = errors.New("the command is about the session or the request of the client itself, and has a method")
	// ErrPartitionUnnamed is the cause for a command that is of one partition, and does not name it.
	ErrPartitionUnnamed = errors.New("the request has to name its partition")
	// ErrNotAtReplica is the cause for a command that the client cannot send to any node.
	ErrNotAtReplica = errors.New("changes go to the leader, and what is of a partition to its primary")
	// ErrNoReplica is the cause when there is no link to a node.
	ErrNoReplica = errors.New("no link to such a node")
)

// SendBinaryRequest sends a command with a payload that the caller has encoded, and returns the payload of the reply, in
// memory that is the caller's. It is for commands that have no method; unknown ones are sent as they are, as reads, and the
// server decides. Like methods it finds the route of what is of a partition, which it has to name, takes the lanes, and does
// no write twice. [Timeout] bounds it, but for polls and fetches, which are bounded by what their payload says: one whose wait
// ctx ends has its reply even so. Idempotent sends and acknowledgements of members of groups are better made with methods,
// which know the context that they need.
//
// A command that changes the session is [wire.CodeInvalidCommand]. A partition that is not named, and every request over HTTP,
// is [wire.CodeFeatureUnavailable].
func (c *Client) SendBinaryRequest(ctx context.Context, command wire.Command, payload []byte) ([]byte, error) {
	if err := c.checkRaw(command); err != nil {
		return nil, err
	}
	switch command {
	case wire.CmdSendMessages, wire.CmdStoreConsumerOffset, wire.CmdDeleteConsumerOffset:
		return c.rawWrite(ctx, command, payload)
	case wire.CmdGetConsumerOffset, wire.CmdPollMessages, wire.CmdPollMessagesDeferred:
		return c.rawRead(ctx, command, payload)
	case wire.CmdFetchMessages:
		return c.rawFetch(ctx, payload)
	case wire.CmdJoinConsumerGroup, wire.CmdLeaveConsumerGroup:
		return nil, c.rawMembership(ctx, command, payload)
	}
	return c.requestRaw(ctx, command, nil, payload)
}

// SendBinaryRequestToReplica is [Client.SendBinaryRequest] for a read, sent to one node of the cluster, and only once: a link
// that is lost is an error. The client has links to other nodes if [Nodes] says how to dial them; else it reaches the node of
// its own link only. Without a link to the node the error is [wire.CodeNotConnected]. Changes, and what is of a partition, are
// [wire.CodeFeatureUnavailable]: they find their node by themselves.
func (c *Client) SendBinaryRequestToReplica(
	ctx context.Context, replica uint8, command wire.Command, payload []byte,
) ([]byte, error) {
	if err := c.checkRaw(command); err != nil {
		return nil, err
	}
	if command.Operation() != wire.OpNonReplicated || ofPartition(command) {
		return nil, &Error{Code: wire.CodeFeatureUnavailable, Call: command.String(), Err: ErrNotAtReplica}
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	home, err := c.await(ctx, command.String(), c.begin())
	if err != nil {
		return nil, err
	}
	l := c.linkTo(home, replica)
	if l == nil {
		err := fmt.Errorf("%w: replica %d", ErrNoReplica, replica)
		return nil, &Error{Code: wire.CodeNotConnected, Call: command.String(), Err: err}
	}
	h := c.header(l, command)
	h.Context = c.contextOf(&query{command: command})
	frame, err := wire.AppendRequest(nil, h, nil)
	if err == nil {
		err = encode(&frame, nil, payload)
	}
	if err != nil {
		return nil, malformed(command.String(), l.addr, err)
	}
	r, err := c.controlFrame(ctx, l, command, &h, frame)
	return r.payload, err
}

// checkRaw refuses commands that are the client's own, and links without frames.
func (c *Client) checkRaw(command wire.Command) error {
	switch command {
	case wire.CmdBindSession, wire.CmdLegacyLogin, wire.CmdLogout, wire.CmdLoginRegister, wire.CmdLegacyLoginWithToken,
		wire.CmdLoginRegisterWithToken, wire.CmdCancelDeferred:
		return &Error{Code: wire.CodeInvalidCommand, Call: command.String(), Err: ErrSessionCommand}
	}
	return c.checkSessions(command)
}

// ofPartition says whether a read is of one partition, or of several.
func ofPartition(command wire.Command) bool {
	switch command {
	case wire.CmdGetConsumerOffset, wire.CmdPollMessages, wire.CmdPollMessagesDeferred, wire.CmdFetchMessages:
		return true
	}
	return false
}

// linkTo returns the link to a node, or nil if there is none. home is the link that calls use.
func (c *Client) linkTo(home *link, replica uint8) *link {
	c.mu.Lock()
	roster, other := c.roster, c.nodes[replica]
	c.mu.Unlock()
	if other != nil && other.session.client == home.session.client && other.conn.Err() == nil {
		return other
	}
	if len(roster) > 1 && c.config.nodes == nil {
		return nil // nobody knows which of them is at home
	}
	others := c.otherNodes(home)
	for i := range roster {
		if id := roster[i].ReplicaID; id == replica && others[id] == nil && (len(roster) == 1 || c.nodeDialer(&roster[i]) != nil) {
			return home
		}
	}
	return nil
}
