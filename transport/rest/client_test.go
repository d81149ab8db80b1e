package rest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/wiretest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// script is a server that answers as it is told, but to pings and logins.
type script struct {
	t      *testing.T
	server *httptest.Server
	clock  *clock

	mu     sync.Mutex
	seen   []string // method, path with query, and token of requests
	logins int
	next   []func(w http.ResponseWriter, r *http.Request) // the last one again and again
}

func play(t *testing.T, answers ...func(w http.ResponseWriter, r *http.Request)) *script {
	t.Helper()
	s := &script{t: t, clock: newClock(), next: answers}
	s.server = httptest.NewServer(s)
	s.server.Config.SetKeepAlivesEnabled(false) // the library repeats by itself what an old connection has lost
	t.Cleanup(s.server.Close)
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/ping" {
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	s.seen = append(s.seen, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
	if strings.HasSuffix(r.URL.Path, "/login") || r.URL.Path == "/users/refresh-token" {
		s.logins++
		_, _ = fmt.Fprintf(w, `{"user_id": 7, "access_token": {"token": "t%d", "expiry": %d}}`, s.logins, s.clock.Now().Add(time.Hour).Unix())
		return
	}
	answer := s.next[0]
	if len(s.next) > 1 {
		s.next = s.next[1:]
	}
	answer(w, r)
}

func (s *script) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// conn is a link on which somebody is logged in.
func (s *script) conn(options ...rest.DialOption) *rest.Conn {
	s.t.Helper()
	conn := dial(s.t, s.server.Listener.Addr().String(), append([]rest.DialOption{rest.WithClock(s.clock)}, options...)...)
	enter(s.t, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = nil
	return conn
}

func status(status int, body string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hangUp ends the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

var (
	reading = wire.CmdGetStreams
	writing = wire.CmdDeleteStream
	deletes = &wire.DeleteStream{Stream: wire.Named("s")}
)

// IGG-07: a 401 leads to one new login and one retry, and then to the error.
func TestIGG07RefusedTokenLeadsToOneLoginAndOneRetry(t *testing.T) {
	t.Parallel()
	s := play(t, status(401, ""), status(200, "[]"))
	conn := s.conn()
	code, _ := ask(t, conn, reading, &wire.Empty{})
	require.Zero(t, code)
	require.Equal(t, []string{"GET /streams Bearer t1", "POST /users/login ", "GET /streams Bearer t2"}, s.requests())

	s = play(t, status(401, ""))
	conn = s.conn()
	code, _ = ask(t, conn, writing, deletes)
	require.Equal(t, wire.CodeUnauthenticated, code)
	require.Equal(t, []string{"DELETE /streams/s Bearer t1", "POST /users/login ", "DELETE /streams/s Bearer t2"}, s.requests())
}

func TestRequestsWithTheSameOldTokenShareOneLogin(t *testing.T) {
	t.Parallel()
	fresh := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer t1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "[]")
	}
	s := play(t, fresh)
	conn := s.conn()
	var wg sync.WaitGroup
	request := frame(t, wire.NewRequest(reading), &wire.Empty{})
	replies := make(chan transport.Frame, 16)
	for range cap(replies) {
		wg.Go(func() {
			reply, err := conn.Do(t.Context(), request)
			if err == nil {
				replies <- reply
			}
		})
	}
	wg.Wait()
	close(replies)
	require.Len(t, replies, cap(replies))
	for reply := range replies {
		_, code, _ := wiretest.Open(t, reply)
		require.Zero(t, code)
	}
	require.Equal(t, 2, s.logins)
}

func TestTokenIsReplacedBeforeItEnds(t *testing.T) {
	t.Parallel()
	s := play(t, status(200, "[]"))
	conn := s.conn()
	s.clock.move(58 * time.Minute)
	for _, pause := range []time.Duration{0, time.Minute, 0} {
		s.clock.move(pause)
		code, _ := ask(t, conn, reading, &wire.Empty{})
		require.Zero(t, code)
	}
	require.Equal(t, []string{
		"GET /streams Bearer t1", "POST /users/refresh-token ", "GET /streams Bearer t2", "GET /streams Bearer t2",
	}, s.requests())
}

func TestRejectedLoginIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	conn := dial(t, listen(t, says(nil)).Addr())
	code, payload := do(t, conn, wire.RequestHeader{Operation: wire.OpRegister}, login("iggy", "wrong"))
	require.Equal(t, wire.CodeInvalidCredentials, code)
	require.Empty(t, payload)
	code, _ = ask(t, conn, reading, &wire.Empty{})
	require.Equal(t, wire.CodeUnauthenticated, code)
	token := &wire.LoginRegisterWithToken{Client: login("", "").Client, Token: "wrong"}
	code, _ = do(t, conn, wire.RequestHeader{Operation: wire.OpRegister}, token)
	require.Equal(t, wire.CodeInvalidPersonalAccessToken, code)
	token.Token = "access"
	code, _ = do(t, conn, wire.RequestHeader{Operation: wire.OpRegister}, token)
	require.Zero(t, code)
}

func TestBindAsksOnlyWhetherSomebodyIsLoggedIn(t *testing.T) {
	t.Parallel()
	conn := dial(t, listen(t, says(nil)).Addr())
	bind := &wire.BindSession{Client: login("", "").Client, Session: 1}
	code, _ := ask(t, conn, wire.CmdBindSession, bind)
	require.Equal(t, wire.CodeUnauthenticated, code)
	enter(t, conn)
	code, payload := ask(t, conn, wire.CmdBindSession, bind)
	require.Zero(t, code)
	got, err := wire.Decode[wire.Registered](payload)
	require.NoError(t, err)
	require.EqualValues(t, theUser, got.UserID)
	code, _ = ask(t, conn, wire.CmdLogout, &wire.Empty{})
	require.Zero(t, code)
	code, _ = ask(t, conn, wire.CmdBindSession, bind)
	require.Equal(t, wire.CodeUnauthenticated, code)
}

func TestWritesAreRepeatedOnlyIfTheyWereNotCarriedOut(t *testing.T) {
	t.Parallel()
	const refused = `{"id": 58, "code": "transient_not_accepted", "reason": "", "field": null}`
	for name, tt := range map[string]struct {
		command  wire.Command
		answers  []func(w http.ResponseWriter, r *http.Request)
		attempts int
		code     wire.Code
		failed   bool
	}{
		"write, not now":            {writing, []func(http.ResponseWriter, *http.Request){status(503, refused), status(204, "")}, 2, 0, false},
		"write, never":              {writing, []func(http.ResponseWriter, *http.Request){status(503, refused)}, 4, wire.CodeTransientNotAccepted, false},
		"write, a proxy says never": {writing, []func(http.ResponseWriter, *http.Request){status(503, "<html>")}, 4, wire.CodeCannotEstablishConnection, false},
		"write, unknown outcome":    {writing, []func(http.ResponseWriter, *http.Request){status(504, "")}, 1, 0, true},
		"write, server fault":       {writing, []func(http.ResponseWriter, *http.Request){status(500, "")}, 1, 0, true},
		"write, no answer":          {writing, []func(http.ResponseWriter, *http.Request){hangUp}, 1, 0, true},
		"read, server fault":        {reading, []func(http.ResponseWriter, *http.Request){status(500, ""), status(504, ""), status(200, "[]")}, 3, 0, false},
		"read, no answer":           {reading, []func(http.ResponseWriter, *http.Request){hangUp, status(200, "[]")}, 2, 0, false},
		"read, never":               {reading, []func(http.ResponseWriter, *http.Request){status(500, "")}, 4, wire.CodeHTTPResponseError, false},
		"read, never an answer":     {reading, []func(http.ResponseWriter, *http.Request){hangUp}, 4, 0, true},
		"refused":                   {writing, []func(http.ResponseWriter, *http.Request){status(400, "")}, 1, wire.CodeHTTPResponseError, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, tt.answers...)
			conn := s.conn()
			body := wire.Body(&wire.Empty{})
			if tt.command == writing {
				body = deletes
			}
			reply, err := conn.Do(t.Context(), frame(t, wire.NewRequest(tt.command), body))
			require.Len(t, s.requests(), tt.attempts)
			if tt.failed {
				require.False(t, transport.Unsent(err))
				var of *transport.Error
				require.ErrorAs(t, err, &of)
				require.ErrorIs(t, err, transport.ErrLost)
				return
			}
			require.NoError(t, err)
			_, code, _ := wiretest.Open(t, reply)
			require.Equal(t, tt.code, code)
		})
	}
}

func TestServerThatIsGoneIsAnErrorOfARequestThatWasNotSent(t *testing.T) {
	t.Parallel()
	s := play(t, status(204, ""))
	conn := s.conn()
	s.server.Close()
	_, err := conn.Do(t.Context(), frame(t, wire.NewRequest(writing), deletes))
	require.True(t, transport.Unsent(err), "%v", err)
	require.ErrorIs(t, err, transport.ErrLost)
	require.Len(t, s.clock.waited, 3)
	require.Less(t, s.clock.waited[0], s.clock.waited[2])
	<-conn.Done()
	require.ErrorIs(t, conn.Err(), transport.ErrLost)
	_, err = conn.Do(t.Context(), frame(t, wire.NewRequest(writing), deletes))
	require.True(t, transport.Unsent(err))
	require.ErrorIs(t, err, transport.ErrLost)
	require.Len(t, s.clock.waited, 3, "it is not tried again")

	_, err = rest.NewDialer(s.server.Listener.Addr().String()).Dial(t.Context())
	require.ErrorContains(t, err, "iggy: dial http://127.0.0.1:")
}

func TestCommitOfAReadIsNotRepeatedAndWaitsGetShorter(t *testing.T) {
	t.Parallel()
	s := play(t, status(503, ""), status(500, ""))
	conn := s.conn()
	_, err := conn.Do(t.Context(), frame(t, wire.NewRequest(wire.CmdPollMessagesDeferred), polling(true, wire.PollingStrategy{Kind: wire.FromNext})))
	require.Error(t, err)
	require.False(t, transport.Unsent(err))
	seen := s.requests()
	require.Len(t, seen, 2)
	require.Contains(t, seen[0], "request_timeout_us=11000000")
	require.Contains(t, seen[0], "wait_us=1000000")
	left := (11*time.Second - s.clock.waited[0]).Microseconds()
	require.Contains(t, seen[1], fmt.Sprintf("request_timeout_us=%d&", left))

	s = play(t, func(w http.ResponseWriter, _ *http.Request) {
		s.clock.move(6 * time.Second)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	code, _ := ask(t, s.conn(), wire.CmdPollMessagesDeferred, polling(false, wire.PollingStrategy{Kind: wire.FromNext}))
	require.Equal(t, wire.CodeCannotEstablishConnection, code, "the last answer")
	require.Len(t, s.requests(), 2)
	require.Contains(t, s.requests()[1], "&wait_us=0 ")
}

func TestAnswersStandForCodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		body   string
		want   wire.Code
	}{
		{200, "", 0},
		{204, "", 0},
		{401, `{"id": 53, "code": "invalid_personal_access_token"}`, wire.CodeUnauthenticated},
		{403, "", wire.CodeUnauthorized},
		{404, `{"id": 404, "code": "not_found"}`, wire.CodeResourceNotFound},
		{404, `{"id": 404, "code": "web_socket_send_error"}`, 404},
		{404, `{"id": 1009, "code": "another name"}`, wire.CodeStreamIDNotFound},
		{400, `{"id": 87, "code": "history_unavailable"}`, wire.CodeHistoryUnavailable},
		{400, `{"id": 88, "code": "lifecycle_busy"}`, wire.CodeLifecycleBusy},
		{400, `{"id": 400, "code": "bad_request"}`, wire.CodeHTTPResponseError},
		{400, `{"id": 99999, "code": "of a later server"}`, wire.CodeHTTPResponseError},
		{400, `{"id": -1}`, wire.CodeHTTPResponseError},
		{429, `{"id": 429, "code": "too_many_in_flight_writes"}`, wire.CodeTransientNotAccepted},
		{503, `{"id": 503, "code": "server_busy"}`, wire.CodeCannotEstablishConnection},
		{503, `{"id": 9, "code": "cannot_establish_connection"}`, wire.CodeCannotEstablishConnection},
		{502, "<html>", wire.CodeHTTPResponseError},
		{307, "", wire.CodeHTTPResponseError},
	} {
		require.Equal(t, tt.want, rest.CodeOf(tt.status, tt.body), "%d %s", tt.status, tt.body)
	}
}

func TestServerThatIsBusyWithItsMetadataIsAskedForHalfAMinute(t *testing.T) {
	t.Parallel()
	busy := status(400, `{"id": 88, "code": "lifecycle_busy"}`)
	s := play(t, busy, busy, busy, busy, busy, status(204, ""))
	code, _ := ask(t, s.conn(), writing, deletes)
	require.Zero(t, code)
	s = play(t, busy)
	code, _ = ask(t, s.conn(), writing, deletes)
	require.Equal(t, wire.CodeLifecycleBusy, code)
	require.GreaterOrEqual(t, s.clock.Now().Sub(start), 30*time.Second)
	require.Less(t, s.clock.Now().Sub(start), 36*time.Second)
}

func TestRedirectsStayOnTheirHost(t *testing.T) {
	t.Parallel()
	var leaked []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = append(leaked, r.URL.Path) }))
	defer other.Close()
	redirect := func(status int, to string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) }
	}
	s := play(t, redirect(307, "/streams/leader"), status(204, ""))
	code, _ := ask(t, s.conn(), writing, deletes)
	require.Zero(t, code)
	require.Equal(t, []string{"DELETE /streams/s Bearer t1", "DELETE /streams/leader Bearer t1"}, s.requests())

	for _, status := range []int{301, 302, 303, 307, 308} {
		s = play(t, redirect(status, other.URL))
		code, _ = ask(t, s.conn(), writing, deletes)
		require.Equal(t, wire.CodeHTTPResponseError, code, status)
	}
	require.Empty(t, leaked)
	s = play(t, redirect(307, "/streams/s"))
	_, err := s.conn().Do(t.Context(), frame(t, wire.NewRequest(writing), deletes))
	require.ErrorIs(t, err, transport.ErrProtocol)
	require.Len(t, s.requests(), 4)
}

func TestLongAndBrokenAnswersAreErrors(t *testing.T) {
	t.Parallel()
	s := play(t, status(200, "["+strings.Repeat(" ", 3000)+"]"))
	_, err := s.conn(rest.Limits(transport.Limits{MaxReplyBytes: 1000})).Do(t.Context(), frame(t, wire.NewRequest(reading), &wire.Empty{}))
	var size *transport.SizeError
	require.ErrorAs(t, err, &size)
	require.ErrorContains(t, err, "MaxReplyBytes")
	require.Len(t, s.requests(), 1)
	for _, text := range []string{"", "{", "[1]", `[{"size": "many"}]`, `[{"options": {"a": {"kind": "uint8", "value": "x"}}}]`} {
		s := play(t, status(200, text))
		_, err := s.conn().Do(t.Context(), frame(t, wire.NewRequest(reading), &wire.Empty{}))
		require.ErrorIs(t, err, transport.ErrProtocol, text)
		require.False(t, transport.Unsent(err))
	}
}
