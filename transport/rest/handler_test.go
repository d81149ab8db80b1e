package rest_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// serveOne answers one request of somebody who is logged in.
func serveOne(t testing.TB, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+theToken)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRequestsThatCannotBeReadNameTheField(t *testing.T) {
	t.Parallel()
	b := says(nil)
	h := handler(t, b)
	long := strings.Repeat("a", 256)
	const topic = "/streams/s/topics/t"
	const polls = topic + "/messages/deferred?consumer_id=r&partition_id=0&"
	for name, tt := range map[string]struct{ method, target, body, field string }{
		"no JSON":               {"POST", "/streams", `{`, "body"},
		"nothing":               {"POST", "/streams", ``, "body"},
		"two values":            {"POST", "/streams", `{} {}`, "body"},
		"another kind":          {"POST", "/streams", `{"name": 1}`, "name"},
		"deep":                  {"POST", "/streams", strings.Repeat("[", 100_000), "body"},
		"no name":               {"POST", "/streams", `{}`, "stream_name"},
		"long name":             {"POST", "/streams", `{"name": "` + long + `"}`, "stream_name"},
		"long stream":           {"GET", "/streams/" + long, "", "stream_id"},
		"option is a list":      {"POST", "/streams", `{"name": "s", "options": {"a": []}}`, "options"},
		"option is negative":    {"POST", "/streams", `{"name": "s", "options": {"a": -1}}`, "options"},
		"option is a fraction":  {"POST", "/streams", `{"name": "s", "options": {"a": 1.5}}`, "options"},
		"count is no number":    {"DELETE", topic + "/partitions?partitions_count=x", "", "partitions_count"},
		"count is too large":    {"DELETE", topic + "/partitions?partitions_count=4294967296", "", "partitions_count"},
		"partition is none":     {"DELETE", topic + "/partitions/x?segments_count=1", "", "partition_id"},
		"update of nothing":     {"PUT", topic, `{}`, "options"},
		"set and reset":         {"PUT", topic, `{"a": 1, "reset": ["a"]}`, "reset"},
		"reset is no list":      {"PUT", topic, `{"reset": 1}`, "reset"},
		"status":                {"POST", "/users", `{"username": "bob", "password": "secret", "status": "gone"}`, "status"},
		"scope":                 {"GET", "/options/x", "", "scope"},
		"compression":           {"POST", "/snapshot", `{"compression": "best"}`, "snapshot_types"},
		"partitioning":          {"POST", topic + "/messages", `{"partitioning": {"kind": "x"}, "messages": [{}]}`, "partitioning"},
		"partition of 3 bytes":  {"POST", topic + "/messages", `{"partitioning": {"kind": "partition_id", "value": "AAAA"}, "messages": [{}]}`, "partitioning"},
		"no messages":           {"POST", topic + "/messages", `{"partitioning": {"kind": "balanced", "value": ""}, "messages": []}`, "messages"},
		"payload is no base64":  {"POST", topic + "/messages", `{"messages": [{"payload": "?"}]}`, "body"},
		"id is too large":       {"POST", topic + "/messages", `{"messages": [{"id": 340282366920938463463374607431768211456}]}`, "body"},
		"kind of start":         {"GET", polls + "kind=middle", "", "kind"},
		"value":                 {"GET", polls + "kind=offset&value=-1", "", "value"},
		"commit":                {"GET", polls + "auto_commit=1", "", "auto_commit"},
		"context":               {"GET", polls + "context={", "", "context"},
		"wait is too long":      {"GET", polls + "wait_us=600000001", "", "wait"},
		"time-out is too short": {"GET", polls + "wait_us=5&request_timeout_us=6", "", "request_timeout"},
		"more than all":         {"GET", polls + "count=1&min_count=2", "", "min_count"},
		"few bytes":             {"GET", polls + "max_bytes=343", "", "max_bytes"},
		"no consumer":           {"GET", topic + "/messages?partition_id=0", "", "consumer_id"},
		"group":                 {"GET", polls + "consumer_kind=consumer_group", "", "consumer_kind"},
		"kind of consumer":      {"PUT", topic + "/consumer-offsets", `{"consumer_id": "r", "consumer_kind": "x"}`, "consumer_kind"},
		"offset of nobody":      {"PUT", topic + "/consumer-offsets", `{"offset": 1}`, "consumer_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serveOne(t, h, tt.method, strings.ReplaceAll(tt.target, "{", "%7B"), tt.body)
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body.String())
			var e httpjson.Error
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
			require.NotNil(t, e.Field, w.Body.String())
			require.Equal(t, tt.field, *e.Field, w.Body.String())
			require.NotEmpty(t, e.Reason)
			require.NotZero(t, e.ID)
			require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		})
	}
	t.Cleanup(func() { require.Empty(t, b.requests(), "nothing of it was carried out") })
}

func TestRefusalsHaveTheirStatus(t *testing.T) {
	t.Parallel()
	for code, want := range map[wire.Code]int{
		wire.CodeUnauthorized: 403, wire.CodeStreamIDNotFound: 404, wire.CodeResourceNotFound: 404, wire.CodePartitionNotFound: 404,
		wire.CodeUnauthenticated: 401, wire.CodeTransientNotAccepted: 503, wire.CodeTransientNotCommitted: 503,
		wire.CodeCannotEstablishConnection: 503, wire.CodeStreamNameAlreadyExists: 400, wire.CodeHistoryUnavailable: 400, 99_999: 400,
	} {
		w := serveOne(t, handler(t, refuses(code)), "DELETE", "/streams/s", "")
		require.Equal(t, want, w.Code, code)
		require.Equal(t, want == 503, w.Header().Get("Retry-After") == "1")
		var e httpjson.Error
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
		require.Equal(t, uint32(code), e.ID)
	}
	for code := range rest.Codes {
		w := serveOne(t, handler(t, refuses(code)), "DELETE", "/streams/s", "")
		if w.Code != http.StatusUnauthorized {
			require.Equal(t, code, rest.CodeOf(w.Code, w.Body.String()), "a client reads what a server writes")
		}
	}
}

func TestWhatThereIsNotIsSaidInJSON(t *testing.T) {
	t.Parallel()
	h := handler(t, says(nil))
	for target, want := range map[string]int{
		"GET /nothing": 404, "POST /streams/s": 405, "PATCH /streams": 405, "GET /users/login": 405, "HEAD /streams": 405, "GET /metrics": 404,
	} {
		method, path, _ := strings.Cut(target, " ")
		w := serveOne(t, h, method, path, "")
		require.Equal(t, want, w.Code, target)
		var e httpjson.Error
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
		require.EqualValues(t, want, e.ID)
		require.Equal(t, want == 405, w.Header().Get("Allow") != "")
	}
	w := serveOne(t, h, "GET", "/streams/s", "")
	require.Equal(t, 404, w.Code)
	require.JSONEq(t, `{"id": 404, "code": "not_found", "reason": "Not Found", "field": null}`, w.Body.String())
}

func TestStrangersGetNoFurtherThanTheLogin(t *testing.T) {
	t.Parallel()
	b := says(nil)
	h := handler(t, b)
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic " + theToken, theToken} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/streams", strings.NewReader(`{"name": "s"}`))
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, 401, w.Code, authorization)
	}
	require.Empty(t, b.requests())
	w := serveOne(t, h, "POST", "/users/login", `{"username": "iggy", "password": "not-this"}`)
	require.Equal(t, 400, w.Code)
	require.NotContains(t, w.Body.String(), "not-this")
	w = serveOne(t, h, "POST", "/users/login", strings.Repeat(" ", 20<<10))
	require.Equal(t, 413, w.Code)
	w = serveOne(t, h, "POST", "/users/login", `{"username": "iggy", "password": "secret"}`)
	require.Equal(t, 200, w.Code)
	require.JSONEq(t, `{"user_id": 7, "access_token": {"token": "a-token", "expiry": 1700003600}}`, w.Body.String())
}

func TestMessageWithoutAnIDGetsOneAndThePresentLifeOfItsPartition(t *testing.T) {
	t.Parallel()
	b := says(nil)
	b.answer = routed(t, &wire.SentMessages{})
	w := serveOne(t, handler(t, b), "POST", "/streams/1/topics/2/messages",
		`{"partitioning": {"kind": "partition_id", "value": "AwAAAA=="}, "messages": [{"payload": "aGVsbG8="}, {"id": 0, "payload": ""}]}`)
	require.Equal(t, 201, w.Code, w.Body.String())
	require.Equal(t, "replicated-memory", w.Header().Get("Iggy-Durability"))
	h, body, err := wire.DecodeRequest(b.requests()[1])
	require.NoError(t, err)
	require.Equal(t, here, h.Context)
	sent, err := wire.Decode[wire.SendMessages](body)
	require.NoError(t, err)
	_, err = wire.VerifyBatch(sent.Batch)
	require.NoError(t, err)
	seen := map[wire.Uint128]bool{{}: true}
	for r := wire.NewRecords(sent.Batch); r.Next(); {
		require.False(t, seen[r.Message().ID])
		seen[r.Message().ID] = true
		require.EqualValues(t, start.UnixMicro(), r.Message().OriginTimestamp)
	}
	require.Len(t, seen, 3)
}

func TestListenerBoundsConnectionsAndLengths(t *testing.T) {
	t.Parallel()
	b := says(&wire.Streams{})
	l := listen(t, b, rest.MaxConnections(1), rest.Limits(transport.Limits{MaxRequestBytes: 1000}))
	first, err := net.Dial("tcp", l.Addr())
	require.NoError(t, err)
	ask := func(conn net.Conn, head, body string) {
		_, err := io.WriteString(conn, head+"Host: h\r\nAuthorization: Bearer a-token\r\n"+body)
		require.NoError(t, err)
	}
	second, err := net.Dial("tcp", l.Addr())
	require.NoError(t, err)
	defer second.Close()
	ask(second, "GET /streams HTTP/1.1\r\n", "Connection: close\r\n\r\n")
	ask(first, "POST /streams/s/topics/t/messages HTTP/1.1\r\n", "Content-Length: 2001\r\nConnection: close\r\n\r\n"+strings.Repeat(" ", 2001))
	text, err := io.ReadAll(first)
	require.NoError(t, err)
	require.Contains(t, string(text), "413 Request Entity Too Large")
	require.NoError(t, first.Close())
	text, err = io.ReadAll(second)
	require.NoError(t, err)
	require.Contains(t, string(text), "200 OK", "it had to wait for the first")

	third, err := net.Dial("tcp", l.Addr())
	require.NoError(t, err)
	defer third.Close()
	ask(third, "GET /"+strings.Repeat("a", 64<<10)+" HTTP/1.1\r\n", "\r\n")
	text, err = io.ReadAll(third)
	if err == nil {
		require.Contains(t, string(text), "431")
	}
	_, err = rest.Listen(t.Context(), "127.0.0.1:0", b, rest.MaxConnections(0))
	require.ErrorContains(t, err, "MaxConnections is 0")
	_, err = rest.Listen(t.Context(), "127.0.0.1:0", b, rest.Limits(transport.Limits{MaxInFlight: -1}))
	require.ErrorContains(t, err, "MaxInFlight is -1")
}

// timed notes when what is written to it has to be taken.
type timed struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, at)
	return nil
}

func TestTimeOfAnAnswerIsNotThatOfTheNext(t *testing.T) {
	t.Parallel()
	h := handler(t, says(&wire.Streams{}))
	for _, path := range []string{"/ping", "/streams", "/nothing"} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		require.Len(t, w.deadlines, 2, path)
		require.True(t, w.deadlines[0].IsZero(), "the one of the answer before")
		require.False(t, w.deadlines[1].IsZero())
	}
}

func TestListenerEndsRequestsThatWait(t *testing.T) {
	t.Parallel()
	b := &backend{wait: true}
	l, err := rest.Listen(t.Context(), "127.0.0.1:0", b)
	require.NoError(t, err)
	conn := dial(t, l.Addr(), rest.Retries(0))
	enter(t, conn)
	failed := make(chan error)
	request := frame(t, wire.NewRequest(reading), &wire.Empty{})
	go func() {
		_, err := conn.Do(context.Background(), request)
		failed <- err
	}()
	require.Eventually(t, func() bool { return len(b.requests()) == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-failed, transport.ErrLost)
	require.NoError(t, l.Close())
	_, err = rest.NewDialer(l.Addr()).Dial(t.Context())
	require.Error(t, err)
}

func TestLinksHaveTLS(t *testing.T) {
	t.Parallel()
	certificate, err := transport.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	l := listen(t, says(&wire.Streams{}), rest.ServeTLS(&tls.Config{Certificates: []tls.Certificate{certificate}}))
	_, err = rest.NewDialer(l.Addr(), rest.TLS(transport.TLS{})).Dial(t.Context())
	require.ErrorContains(t, err, "certificate")
	_, err = rest.NewDialer(l.Addr()).Dial(t.Context())
	require.Error(t, err)
	conn := dial(t, l.Addr(), rest.TLS(transport.TLS{CAFile: transporttest.CAFile(t, certificate)}))
	enter(t, conn)
	code, _ := ask(t, conn, reading, &wire.Empty{})
	require.Zero(t, code)
}
