package ws

import (
	"context"
	"net"
	"time"

	"github.com/coder/websocket"

	"github.com/runnel-go/runnel/transport/internal/mux"
)

// goodbye is what a client says when it ends a link, and closeWait is how long it waits for the answer.
const (
	goodbye   = "Client requested shutdown"
	closeWait = time.Second
)

// link is a stream of binary messages: each write is one, reads take them together. A text message ends it. The length
// of a message has no limit of its own, which would be another one for each way to cut frames into messages; that of
// the frames is held before memory is taken for them.
type link struct {
	net.Conn
	ws *websocket.Conn
}

var (
	_ mux.Link     = (*link)(nil)
	_ mux.Goodbyer = (*link)(nil)
)

func newLink(ws *websocket.Conn) *link {
	return &link{websocket.NetConn(context.Background(), ws, websocket.MessageBinary), ws}
}

// Close ends the connection without a word.
func (l *link) Close() error { return l.ws.CloseNow() }

// Goodbye does the closing handshake of RFC 6455, section 7. The answer is read by who reads the link.
func (l *link) Goodbye() {
	until := time.Now().Add(closeWait)
	_ = l.SetReadDeadline(until)
	_ = l.SetWriteDeadline(until)
	_ = l.ws.Close(websocket.StatusNormalClosure, goodbye) // the link ends, whatever the other side says
}
