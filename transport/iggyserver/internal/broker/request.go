package broker

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// request is a request at work.
type request struct {
	broker  *Broker
	link    *Link
	session *session // nil before the login
	header  wire.RequestHeader
	body    []byte
	frame   []byte
	held    int64 // bytes of the room of the link, for the reply
}

// outcome is what came of a request.
type outcome struct {
	code      wire.Code // why not, or 0
	payload   wire.Body
	raw       []byte // stands behind the payload
	op        uint64 // position in a log if something was committed, or else 0
	evict     wire.EvictReason
	repeat    []byte // the reply, if it is that to an earlier request
	abandoned bool   // nobody waits for a reply any more
}

// refused is the outcome of a request that had no effect.
func refused(code wire.Code) outcome { return outcome{code: code} }

// handler answers the requests of one command, of a session.
type handler func(ctx context.Context, r *request) outcome

// handle answers the request.
func (r *request) handle(ctx context.Context) (reply []byte, closing bool) {
	o := r.dispatch(ctx)
	switch {
	case o.abandoned:
		return nil, true
	case o.evict != 0:
		return r.evicted(o.evict), true
	}
	if o.repeat != nil {
		return o.repeat, false
	}
	return r.reply(o), false
}

func (r *request) dispatch(ctx context.Context) outcome {
	h, command := &r.header, r.header.Carries()
	switch {
	case !h.Operation.IsClient():
		return outcome{evict: wire.EvictInvalidOperation}
	case command == wire.CmdLegacyLogin || command == wire.CmdLegacyLoginWithToken:
		return outcome{evict: wire.EvictMalformedLogin}
	case h.Operation == wire.OpRegister:
		return r.register(ctx)
	case command == wire.CmdBindSession:
		return r.bind()
	case command == wire.CmdPing && h.Operation == wire.OpNonReplicated:
		return outcome{}
	}
	if r.session = r.authenticated(); r.session == nil {
		return refused(wire.CodeUnauthenticated)
	}
	answer, ok := handlers[command]
	switch {
	case !ok, command.Operation() != h.Operation, h.Validate() != nil:
		return refused(wire.CodeInvalidCommand)
	case len(r.body) > maxBody && command != wire.CmdSendMessages:
		return refused(wire.CodeInvalidCommand)
	}
	return answer(ctx, r)
}

// maxBody is the size of the largest body of a request that does not send messages, so that what such requests leave
// behind is small: a user with permissions for 20,000 topics has less.
const maxBody = 1 << 20

// authenticated returns the session that the request names if it is that of the link, or nil.
func (r *request) authenticated() *session {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	s := r.link.session
	if s == nil || s.number != r.header.Session || s.client != r.header.Client {
		return nil
	}
	return s
}

// handlers are the commands that a session may send.
var handlers = map[wire.Command]handler{
	wire.CmdLogout:             logout,
	wire.CmdGetStats:           reads(getStats),
	wire.CmdGetSnapshot:        getSnapshot,
	wire.CmdGetClusterMetadata: reads(getClusterMetadata),
	wire.CmdDescribeOptions:    reads(describeOptions),
	wire.CmdGetMe:              reads(getMe),
	wire.CmdGetClient:          reads(getClient),
	wire.CmdGetClients:         reads(getClients),
	wire.CmdUpdateResource:     changes(updateResource),

	wire.CmdGetUser:                   reads(getUser),
	wire.CmdGetUsers:                  reads(getUsers),
	wire.CmdCreateUser:                once(createUser),
	wire.CmdDeleteUser:                changes(deleteUser),
	wire.CmdUpdatePermissions:         changes(updatePermissions),
	wire.CmdChangePassword:            once(changePassword),
	wire.CmdGetPersonalAccessTokens:   reads(getTokens),
	wire.CmdCreatePersonalAccessToken: changes(createToken),
	wire.CmdDeletePersonalAccessToken: changes(deleteToken),

	wire.CmdGetStream:        reads(getStream),
	wire.CmdGetStreams:       reads(getStreams),
	wire.CmdCreateStream:     changes(createStream),
	wire.CmdDeleteStream:     changes(deleteStream),
	wire.CmdGetTopic:         reads(getTopic),
	wire.CmdGetTopics:        reads(getTopics),
	wire.CmdCreateTopic:      changes(createTopic),
	wire.CmdDeleteTopic:      changes(deleteTopic),
	wire.CmdCreatePartitions: changes(createPartitions),
	wire.CmdDeletePartitions: changes(deletePartitions),
	wire.CmdDeleteSegments:   changes(deleteSegments),

	wire.CmdGetConsumerGroup:    reads(getGroup),
	wire.CmdGetConsumerGroups:   reads(getGroups),
	wire.CmdCreateConsumerGroup: changes(createGroup),
	wire.CmdDeleteConsumerGroup: changes(deleteGroup),
	wire.CmdJoinConsumerGroup:   changes(joinGroup),
	wire.CmdLeaveConsumerGroup:  changes(leaveGroup),
	wire.CmdSyncConsumerGroup:   reads(syncGroup),

	wire.CmdGetPartitionRoute:    reads(getRoute),
	wire.CmdSendMessages:         once(sendMessages),
	wire.CmdPollMessages:         pollMessages,
	wire.CmdPollMessagesDeferred: pollDeferred,
	wire.CmdFetchMessages:        fetchMessages,
	wire.CmdGetConsumerOffset:    reads(getOffset),
	wire.CmdStoreConsumerOffset:  once(storeOffset),
	wire.CmdDeleteConsumerOffset: once(deleteOffset),
}

// body is a body of type T, as [wire.Decode] wants it.
type body[T any] interface {
	*T
	wire.Body
}

// reads makes a handler of a function that looks at the metadata. It is called with the broker's mu; a nil result is a
// reply without a payload.
func reads[T any, P body[T]](look func(r *request, arguments T) (wire.Body, wire.Code)) handler {
	return func(_ context.Context, r *request) outcome {
		arguments, err := wire.Decode[T, P](r.body)
		if err != nil {
			return refused(wire.CodeInvalidCommand)
		}
		r.broker.mu.Lock()
		defer r.broker.mu.Unlock()
		payload, code := look(r, arguments)
		return outcome{payload: payload, code: code}
	}
}

// changes makes a handler of a function that changes the metadata. It is called with the broker's mu.
func changes[T any, P body[T]](change func(r *request, arguments T) (wire.Body, wire.Code)) handler {
	return once(func(_ context.Context, r *request) outcome {
		arguments, err := wire.Decode[T, P](r.body)
		if err != nil {
			return refused(wire.CodeInvalidCommand)
		}
		return r.commit(func() (wire.Body, wire.Code) { return change(r, arguments) })
	})
}

// commit carries out a change of the metadata under the broker's mu. The position in the log that it gets is the
// broker's op while it goes on.
func (r *request) commit(change func() (wire.Body, wire.Code)) outcome {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return refused(wire.CodeTransientNotAccepted)
	case !b.alive(r.session):
		return refused(wire.CodeUnauthenticated)
	}
	b.op++
	payload, code := change()
	if beforeCommit(code) {
		return refused(code)
	}
	return outcome{payload: payload, code: code, op: b.op}
}

// beforeCommit says whether a request with the code is refused before it gets a position in the log. Others are
// rejected by what the log holds: a name that is taken, something that is not there.
func beforeCommit(code wire.Code) bool {
	switch code {
	case wire.CodeUnauthenticated, wire.CodeUnauthorized, wire.CodeInvalidCommand:
		return true
	}
	return code >= wire.CodeUnsupportedOptionKey && code <= wire.CodeOptionsBlockTooLarge ||
		code >= wire.CodeOptionNotUpdatable && code <= wire.CodeUnsupportedCriticalOption
}
