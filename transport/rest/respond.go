package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// retryAfter is when a client may try again what is not possible now, in seconds.
const retryAfter = "1"

// paced gives an answer a time in which it has to be taken. The time of the answer before ends with the next request.
type paced struct {
	http.ResponseWriter

	limit time.Duration
}

func newPaced(w http.ResponseWriter, limit time.Duration) paced {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a writer without deadlines is one of a test
	return paced{w, limit}
}

// WriteHeader begins the answer.
func (p paced) WriteHeader(status int) {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(p.limit)) // as above
	p.ResponseWriter.WriteHeader(status)
}

// Unwrap returns what the answer is written to.
func (p paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// respond translates what a backend made of a request.
func (h *Handler) respond(w http.ResponseWriter, row *route, got served) {
	switch {
	case got.none:
		panic(http.ErrAbortHandler) // the way to end a connection without an answer
	case got.code != 0:
		refuse(w, got.code)
		return
	case row.maybe && len(got.payload) == 0:
		refuseStatus(w, http.StatusNotFound)
		return
	}
	if row.command == wire.CmdSendMessages {
		w.Header().Set("Iggy-Durability", "replicated-memory")
		if len(got.payload) == 0 { // stored, and nothing more is known
			got.payload = make([]byte, 4)
		}
	}
	text, err := row.reply.write(got.payload)
	if err != nil {
		refuse(w, wire.CodeError)
		return
	}
	kind := "application/json"
	if row.command == wire.CmdGetSnapshot {
		kind = "application/zip"
	}
	send(w, row.status, kind, text)
}

// send sends an answer. Who does not take it has gone already.
func send(w http.ResponseWriter, status int, kind string, body []byte) {
	if len(body) > 0 {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func plain(w http.ResponseWriter, text string) {
	send(w, http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// refuse answers with a code.
func refuse(w http.ResponseWriter, code wire.Code) { sendError(w, statusOf(code), errorBody(code)) }

// refuseStatus answers with a status that no code stands for.
func refuseStatus(w http.ResponseWriter, status int) { sendError(w, status, statusError(status)) }

// refuseCall answers a request that cannot be read.
func refuseCall(w http.ResponseWriter, err error) {
	var wrong *callError
	if !errors.As(err, &wrong) {
		refuseStatus(w, http.StatusBadRequest)
		return
	}
	e := errorBody(wrong.code)
	e.Field, e.Reason = &wrong.field, wrong.Error()
	sendError(w, statusOf(wrong.code), e)
}

func sendError(w http.ResponseWriter, status int, e httpjson.Error) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	text, err := json.Marshal(e)
	if err != nil {
		status, text = http.StatusInternalServerError, nil
	}
	send(w, status, "application/json", text)
}

// login answers with a token for a password.
func (h *Handler) login(w http.ResponseWriter, r *http.Request) {
	var v httpjson.Login
	if h.decode(w, r, &v) {
		h.identify(w, func() (Identity, wire.Code) {
			return h.backend.Login(r.Context(), &wire.LoginRegister{Username: v.Username, Password: v.Password})
		})
	}
}

// tokenLogin answers with a token for a personal access token.
func (h *Handler) tokenLogin(w http.ResponseWriter, r *http.Request) {
	var v httpjson.LoginWithToken
	if h.decode(w, r, &v) {
		h.identify(w, func() (Identity, wire.Code) {
			return h.backend.Login(r.Context(), &wire.LoginRegisterWithToken{Token: v.Token})
		})
	}
}

// refresh answers with a token for one that has not ended.
func (h *Handler) refresh(w http.ResponseWriter, r *http.Request) {
	var v httpjson.LoginWithToken
	if h.decode(w, r, &v) {
		h.identify(w, func() (Identity, wire.Code) { return h.backend.Refresh(r.Context(), v.Token) })
	}
}

// logout answers only: a token is what it is until it ends.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request) {
	if _, ok := h.user(w, r); ok {
		send(w, http.StatusNoContent, "", nil)
	}
}

// decode reads the body of a login. What is none is answered, and no part of it told.
func (h *Handler) decode(w http.ResponseWriter, r *http.Request, v any) bool {
	text, err := h.read(w, r, maxLoginBody)
	if err != nil {
		return false
	}
	c := &call{body: text}
	c.json(v)
	if c.err != nil {
		refuseCall(w, c.err)
	}
	return c.err == nil
}

func (h *Handler) identify(w http.ResponseWriter, login func() (Identity, wire.Code)) {
	got, code := login()
	if code != 0 {
		refuse(w, code)
		return
	}
	text, err := json.Marshal(httpjson.Identity{
		UserID: got.User, AccessToken: httpjson.AccessToken{Token: got.Token, Expiry: uint64(max(0, got.Expiry.Unix()))},
	})
	if err != nil {
		refuse(w, wire.CodeError)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	send(w, http.StatusOK, "application/json", text)
}
