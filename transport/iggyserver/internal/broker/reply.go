package broker

import "github.com/runnel-go/runnel/transport/wire"

// smallPayload is room for the payload of most replies, messages aside.
const smallPayload = 128

// reply makes the frame for an outcome. It echoes what the client checks before it believes that something is committed.
func (r *request) reply(o outcome) []byte {
	h := wire.NewReply(&r.header)
	h.Op, h.Commit, h.Committed = o.op, o.op, o.op != 0
	if h.Committed {
		h.Timestamp = r.broker.now()
		h.Operation = committedAs(h.Operation)
	}
	if p, ok := o.payload.(*wire.PolledMessages); ok {
		h.Incarnation = p.Context.Incarnation
	}
	if o.code != 0 {
		return r.refusal(h, o.code)
	}
	dst := make([]byte, 0, wire.HeaderSize+smallPayload+len(o.raw))
	frame, err := wire.AppendReply(dst, h, o.payload)
	if err == nil && len(o.raw) > 0 {
		frame = append(frame, o.raw...)
		err = wire.SetSize(frame)
	}
	if err != nil {
		return r.refusal(h, wire.CodeError) // more than a frame can hold
	}
	return frame
}

// committedAs is the operation in the log that a reply names: only that of the deletion of segments differs here.
func committedAs(o wire.Operation) wire.Operation {
	if o == wire.OpDeleteSegments {
		return wire.OpInternalDeleteSegments
	}
	return o
}

// refusal makes the frame that says why not: in the result section if the log holds the rejection.
func (r *request) refusal(h wire.ReplyHeader, code wire.Code) []byte {
	if h.Committed && h.Operation.ResultFramed() {
		return wire.AppendRejection(nil, h, code)
	}
	h.Status, h.Committed, h.Op, h.Commit = code, false, 0, 0
	frame, _ := wire.AppendReply(nil, h, nil) // a header alone has no error
	return frame
}

// evicted ends the link for a reason, and returns the frame that says so.
func (r *request) evicted(why wire.EvictReason) []byte {
	b := r.broker
	e := wire.Eviction{Client: r.header.Client, Reason: why}
	if why == wire.EvictIncompatibleProtocol {
		e.Newest, e.Oldest = b.config.Version, b.config.Oldest
	}
	frame := wire.AppendEviction(nil, e)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.link.end(frame)
	return frame
}
