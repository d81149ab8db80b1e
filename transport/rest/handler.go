package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// Backend is the server behind the HTTP interface. It is safe for concurrent use. A code that is not 0 says why not.
type Backend interface {
	// Login begins what a token stands for. The login is a *[wire.LoginRegister] or a *[wire.LoginRegisterWithToken], of
	// which name and password, or token, count. The end of ctx gives it up.
	Login(ctx context.Context, login wire.Body) (Identity, wire.Code)
	// Refresh makes a new token for who has one. The old one stays what it is.
	Refresh(ctx context.Context, token string) (Identity, wire.Code)
	// Authenticate returns the user that a token stands for: one of Login or Refresh, or a personal access token.
	Authenticate(ctx context.Context, token string) (user uint32, code wire.Code)
	// Execute carries out a request of a user, and returns the reply. The numbers of client, session and request in the
	// frame mean nothing, and there is no other request with them. After the end of ctx, which is that of the connection,
	// nobody waits for the reply. Without one, nil, the connection is closed.
	Execute(ctx context.Context, user uint32, request transport.Frame) (reply transport.Frame)
}

// Identity is what a login is answered with.
type Identity struct {
	// User is who is logged in.
	User uint32
	// Token is what requests carry.
	Token string
	// Expiry is when it ends, to the second.
	Expiry time.Time
}

// Lengths of bodies in bytes, besides those that carry messages.
const (
	maxLoginBody = 16 << 10
	maxPlainBody = 2 << 20
)

// Handler serves the HTTP interface of a [Backend]. It has no bound on the number of requests; [Listen] has.
type Handler struct {
	backend Backend
	config  listenConfig
	mux     *http.ServeMux
}

// NewHandler returns a handler. An error names every limit that is out of its bounds.
func NewHandler(backend Backend, options ...ListenOption) (*Handler, error) {
	h := &Handler{backend: backend, config: newListenConfig(options), mux: http.NewServeMux()}
	var err error
	if h.config.limits, err = h.config.limits.WithDefaults(); err != nil {
		return nil, fmt.Errorf("iggy over HTTP: %w", err)
	}
	h.route()
	return h, nil
}

// methods are the handlers of one path.
type methods map[string]http.HandlerFunc

// route makes the mux: a path of the table has one handler, which knows the methods that it has.
func (h *Handler) route() {
	paths := map[string]methods{
		"/{$}":         {"GET": func(w http.ResponseWriter, _ *http.Request) { plain(w, "Apache Iggy HTTP interface") }},
		"/ping":        {"GET": func(w http.ResponseWriter, _ *http.Request) { plain(w, "pong") }},
		pathLogin:      {"POST": h.login},
		pathTokenLogin: {"POST": h.tokenLogin},
		pathRefresh:    {"POST": h.refresh},
		pathLogout:     {"DELETE": h.logout},
	}
	for _, row := range table {
		if paths[row.path] == nil {
			paths[row.path] = methods{}
		}
		paths[row.path][row.method] = func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, row) }
	}
	for path, of := range paths {
		h.mux.HandleFunc(path, of.serve)
	}
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuseStatus(w, http.StatusNotFound) })
}

// serve finds the handler for the method of a request.
func (m methods) serve(w http.ResponseWriter, r *http.Request) {
	if handle, ok := m[r.Method]; ok {
		handle(w, r)
		return
	}
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	w.Header().Set("Allow", strings.Join(names, ", "))
	refuseStatus(w, http.StatusMethodNotAllowed)
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Iggy-View", "0")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	h.mux.ServeHTTP(newPaced(w, h.config.limits.FrameTimeout), r)
}

// bearer returns the token of a request; empty for none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// user returns who makes a request. It answers one of nobody, and returns false.
func (h *Handler) user(w http.ResponseWriter, r *http.Request) (uint32, bool) {
	token := bearer(r)
	code := wire.CodeUnauthenticated
	var user uint32
	if token != "" {
		user, code = h.backend.Authenticate(r.Context(), token)
	}
	if code != 0 {
		refuse(w, code)
	}
	return user, code == 0
}

// errBody is returned when a body did not come; it is answered.
var errBody = errors.New("no body")

// read returns the body of a request. One that is too long, or takes too long, is answered.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, limit int) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.config.limits.FrameTimeout)) // a writer without deadlines is one of a test
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		refuseStatus(w, http.StatusRequestEntityTooLarge)
		return nil, errBody
	case err != nil:
		refuseStatus(w, http.StatusRequestTimeout)
		return nil, errBody
	}
	return body, nil
}

// serve answers the request of a row: as a frame of a user, whose reply is translated.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, row *route) {
	user, ok := h.user(w, r)
	if !ok {
		return
	}
	limit := maxPlainBody
	if row.command == wire.CmdSendMessages {
		limit = bodyLimit(h.config.limits.MaxRequestBytes)
	}
	text, err := h.read(w, r, limit)
	if err != nil {
		return
	}
	c := &call{query: r.URL.Query(), body: text, now: uint64(h.config.clock.Now().UnixMicro()), newID: randomID}
	for _, name := range row.wildcards() {
		c.path = append(c.path, r.PathValue(name))
	}
	body := row.request.read(c)
	if c.err != nil {
		refuseCall(w, c.err)
		return
	}
	got, err := h.execute(r.Context(), user, row.command, c, body)
	if err != nil {
		refuseCall(w, err)
		return
	}
	h.respond(w, row, got)
}

func randomID() wire.Uint128 {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never returns an error
	return wire.UUIDv4(random)
}

// execute carries out a command. Without a context of its partition, it is meant for the present life of that.
func (h *Handler) execute(ctx context.Context, user uint32, command wire.Command, c *call, body wire.Body) (served, error) {
	if of, ok := partitionOf(body); ok && !c.named {
		if _, sends := body.(*wire.SendMessages); !sends { // whose batch was checked when it was made
			if _, err := encodeRequest(command, c.at, body); err != nil {
				return served{}, err
			}
		}
		got, err := h.frame(ctx, user, wire.CmdGetPartitionRoute, wire.PartitionContext{}, of)
		if err != nil || got.none || got.code != 0 {
			return got, err
		}
		route, err := wire.Decode[wire.PartitionRoute](got.payload)
		if err != nil {
			return served{code: wire.CodeError}, nil //nolint:nilerr // a fault of the backend
		}
		c.at = wire.PartitionContext{Incarnation: route.Incarnation, MetadataOp: route.MetadataOp}
	}
	return h.frame(ctx, user, command, c.at, body)
}

// partitionOf returns the partition that a request is for, if it names one.
func partitionOf(body wire.Body) (*wire.GetPartitionRoute, bool) {
	switch v := body.(type) {
	case *wire.SendMessages:
		of := &wire.GetPartitionRoute{Stream: v.Stream, Topic: v.Topic, Partition: v.Partitioning.Partition}
		return of, v.Partitioning.Kind == wire.PartitionByID
	case *wire.PollMessages:
		return &wire.GetPartitionRoute{Stream: v.Stream, Topic: v.Topic, Partition: v.Partition.ID}, v.Partition.Present
	case *wire.PollMessagesDeferred:
		return partitionOf(&v.PollMessages)
	case *wire.GetConsumerOffset:
		return &wire.GetPartitionRoute{Stream: v.Stream, Topic: v.Topic, Partition: v.Partition.ID}, v.Partition.Present
	case *wire.StoreConsumerOffset:
		return &wire.GetPartitionRoute{Stream: v.Stream, Topic: v.Topic, Partition: v.Partition.ID}, v.Partition.Present
	case *wire.DeleteConsumerOffset:
		return &wire.GetPartitionRoute{Stream: v.Stream, Topic: v.Topic, Partition: v.Partition.ID}, v.Partition.Present
	}
	return nil, false
}

// served is what a backend made of a request.
type served struct {
	code    wire.Code
	payload []byte
	none    bool // nobody waits for it any more
}

// encodeRequest makes the frame of a request. An error says which part of it cannot be written as one.
func encodeRequest(command wire.Command, at wire.PartitionContext, body wire.Body) (transport.Frame, error) {
	header := wire.NewRequest(command)
	header.Client, header.Request, header.Session, header.Context = wire.Uint128{Lo: 1}, 1, theSession, at
	if header.Operation.HasChecksum() {
		header.Checksum = wire.Uint128{Lo: 1}
	}
	request, err := wire.AppendRequest(nil, header, body)
	var of *wire.FieldError
	if errors.As(err, &of) {
		return nil, &callError{strings.ReplaceAll(of.Field, " ", "_"), wire.CodeInvalidCommand, of.Err}
	}
	return request, err
}

// frame hands a request over as a frame.
func (h *Handler) frame(ctx context.Context, user uint32, command wire.Command, at wire.PartitionContext, body wire.Body) (served, error) {
	request, err := encodeRequest(command, at, body)
	if err != nil {
		return served{}, err
	}
	reply := h.backend.Execute(ctx, user, request)
	if reply == nil {
		return served{none: true}, nil
	}
	answer, payload, err := wire.DecodeReply(reply)
	if err != nil {
		return served{code: wire.CodeError}, nil //nolint:nilerr // a fault of the backend, or an eviction
	}
	code, payload, err := answer.Result(payload)
	if err != nil {
		code = wire.CodeError
	}
	return served{code: code, payload: payload}, nil
}
