package webapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/webapi"
	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// server is one with its time.
type server struct {
	t       testing.TB
	clock   *clock
	broker  *broker.Broker
	backend *webapi.Backend
	url     string
	addr    string
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, clock: &clock{now: time.Unix(1_800_000_000, 0)}}
	b, err := broker.New(broker.Config{PasswordRounds: 1, Clock: s.clock})
	require.NoError(t, err)
	s.broker, s.backend = b, webapi.New(b, s.clock.Now, 0)
	l, err := rest.Listen(context.Background(), "127.0.0.1:0", s.backend, rest.WithClock(s.clock))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		require.NoError(t, b.Close())
	})
	s.addr, s.url = l.Addr(), "http://"+l.Addr()
	return s
}

// send makes a request and returns status and body.
func (s *server) send(token, method, path, body string) (int, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Close = true
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(text)
}

func (s *server) ok(token, method, path, body string) string {
	s.t.Helper()
	status, text := s.send(token, method, path, body)
	require.Less(s.t, status, 300, "%s %s: %s", method, path, text)
	return text
}

// root logs in and returns a token.
func (s *server) root() string {
	s.t.Helper()
	return tokenIn(s.t, s.ok("", "POST", "/users/login", `{"username": "iggy", "password": "iggy"}`))
}

func tokenIn(t testing.TB, text string) string {
	t.Helper()
	var got struct {
		AccessToken struct{ Token string } `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.NotEmpty(t, got.AccessToken.Token)
	return got.AccessToken.Token
}

func TestTokenHasTheClaimsOfTheProtocol(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	parts := strings.Split(s.root(), ".")
	require.Len(t, parts, 3)
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(text, &claims))
	require.NotEmpty(t, claims["jti"])
	delete(claims, "jti")
	now := float64(1_800_000_000)
	delete(claims, "aud")
	require.Equal(t, map[string]any{"sub": "0", "iss": "iggy.apache.org", "iat": now, "nbf": now, "exp": now + 3600}, claims)
}

func TestTokenCountsUntilItEndsAndCanBeReplacedBefore(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.root()
	s.clock.move(59 * time.Minute)
	second := tokenIn(t, s.ok("", "POST", "/users/refresh-token", `{"token": "`+first+`"}`))
	require.NotEqual(t, first, second)
	s.ok(first, "GET", "/streams", "")
	s.clock.move(2 * time.Minute)
	status, text := s.send(first, "GET", "/streams", "")
	require.Equal(t, 401, status)
	require.JSONEq(t, `{"id": 40, "code": "unauthenticated", "reason": "Unauthenticated", "field": null}`, text)
	s.ok(second, "GET", "/streams", "")
	status, _ = s.send("", "POST", "/users/refresh-token", `{"token": "`+first+`"}`)
	require.Equal(t, 401, status)
}

func TestTokensThatTheServerDidNotMakeAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	now := s.clock.Now()
	claims := jwt.RegisteredClaims{
		Subject: "0", Issuer: "iggy.apache.org", Audience: jwt.ClaimStrings{"iggy.apache.org"}, ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour)),
	}
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, claims).SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	foreign, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("another secret"))
	require.NoError(t, err)
	mine := s.root()
	for name, token := range map[string]string{
		"none": "", "of no kind": "x", "unsigned": unsigned, "of another secret": foreign, "cut": mine[:len(mine)-2], "dots": "..",
		"other claims": strings.Split(foreign, ".")[0] + "." + strings.Split(foreign, ".")[1] + "." + strings.Split(mine, ".")[2],
	} {
		status, text := s.send(token, "GET", "/streams", "")
		require.Equal(t, 401, status, name)
		require.Contains(t, text, `"id":40`, name)
	}
}

func TestAccessTokenIsALoginAndABearer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.root()
	var made struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(s.ok(token, "POST", "/personal-access-tokens", `{"name": "robot", "expiry": 60000000}`)), &made))
	s.ok(made.Token, "GET", "/streams", "")
	short := tokenIn(t, s.ok("", "POST", "/personal-access-tokens/login", `{"token": "`+made.Token+`"}`))
	s.clock.move(time.Minute)
	status, _ := s.send(made.Token, "GET", "/streams", "")
	require.Equal(t, 401, status)
	status, text := s.send("", "POST", "/personal-access-tokens/login", `{"token": "`+made.Token+`"}`)
	require.Equal(t, 400, status)
	require.Contains(t, text, `"id":54`)
	s.ok(short, "DELETE", "/users/logout", "")
}

func TestDeletedUserHasNoTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	root := s.root()
	s.ok(root, "POST", "/users", `{"username": "alice", "password": "alice-secret", "status": "active", "permissions": null}`)
	alice := tokenIn(t, s.ok("", "POST", "/users/login", `{"username": "alice", "password": "alice-secret"}`))
	status, text := s.send(alice, "GET", "/streams", "")
	require.Equal(t, 403, status)
	require.Contains(t, text, `"id":41`)
	s.ok(root, "DELETE", "/users/alice", "")
	status, _ = s.send(alice, "GET", "/streams", "")
	require.Equal(t, 401, status)
	status, text = s.send("", "POST", "/users/login", `{"username": "alice", "password": "alice-secret"}`)
	require.Equal(t, 400, status)
	require.Contains(t, text, `"id":42`)
	require.NotContains(t, text, "alice-secret")
}

func TestWaitingPollEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.root()
	s.ok(token, "POST", "/streams", `{"name": "orders"}`)
	s.ok(token, "POST", "/streams/orders/topics", `{"name": "events", "partitions_count": 1}`)
	frame, err := wire.AppendRequest(nil, at(s.route()), &wire.PollMessagesDeferred{
		PollMessages: wire.PollMessages{
			Consumer: wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("r")}, Stream: wire.Named("orders"), Topic: wire.Named("events"),
			Partition: wire.Partition(0), Strategy: wire.PollingStrategy{Kind: wire.FromFirst}, Count: 1,
		},
		WaitMicros: 20_000_000, MinCount: 1, MaxBytes: 1 << 20, TimeoutMicros: 30_000_000,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan []byte)
	go func() { answered <- s.broker.Execute(ctx, 0, frame) }()
	cancel()
	require.Nil(t, <-answered)
}

// at is the header of a poll of a partition.
func at(route wire.PartitionRoute) wire.RequestHeader {
	h := wire.NewRequest(wire.CmdPollMessagesDeferred)
	h.Client, h.Request, h.Session = wire.Uint128{Lo: 1}, 1, 1
	h.Context.Incarnation = route.Incarnation
	return h
}

func (s *server) route() wire.PartitionRoute {
	s.t.Helper()
	h := wire.NewRequest(wire.CmdGetPartitionRoute)
	h.Client, h.Request, h.Session = wire.Uint128{Lo: 1}, 1, 1
	frame, err := wire.AppendRequest(nil, h, &wire.GetPartitionRoute{Stream: wire.Named("orders"), Topic: wire.Named("events")})
	require.NoError(s.t, err)
	reply := s.broker.Execute(s.t.Context(), 0, frame)
	_, payload, err := wire.DecodeReply(reply)
	require.NoError(s.t, err)
	route, err := wire.Decode[wire.PartitionRoute](payload)
	require.NoError(s.t, err)
	return route
}

// The requests of a program over plain HTTP, with what they are answered.
func TestServerSpeaksTheHTTPInterface(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := s.root()
	const topic = "/streams/orders/topics/events"
	for _, step := range []struct {
		method, path, body string
		status             int
		answer             string // something in it
	}{
		{"GET", "/", "", 200, "Apache Iggy"},
		{"GET", "/ping", "", 200, "pong"},
		{"POST", "/streams", `{"name": "orders"}`, 200, `"name":"orders"`},
		{"POST", "/streams", `{"name": "orders"}`, 400, `"id":1012,"code":"stream_name_already_exists"`},
		{"GET", "/streams?consistency=linearizable", "", 200, `"topics_count":0`},
		{"POST", "/streams/orders/topics", `{"name": "events", "partitions_count": 2, "options": {"message_expiry": 60000000}}`, 200, `"message_expiry":{"explicit":true,"kind":"uint64","value":"60000000"}`},
		{"PUT", topic, `{"message_expiry": "7 days", "reset": ["max_topic_size"]}`, 204, ""},
		{"PUT", topic, `{"no_such_option": 1}`, 400, `"id":4041`},
		{"POST", topic + "/partitions", `{"partitions_count": 1}`, 200, ""},
		{"DELETE", topic + "/partitions?partitions_count=1", "", 204, ""},
		{"DELETE", topic + "/partitions", "", 400, `"field":"partitions_count"`},
		{"POST", topic + "/messages", `{"partitioning": {"kind": "partition_id", "value": "AAAAAA=="}, "messages": [{"id": 0, "payload": "aGVsbG8="}, {"id": "340282366920938463463374607431768211455", "payload": "", "user_headers": [{"key": {"kind": "string", "value": "aw=="}, "value": {"kind": "uint8", "value": "AQ=="}}]}]}`, 201, `"base_offset":0`},
		{"POST", topic + "/messages", `{"partitioning": {"kind": "balanced", "value": ""}, "messages": [{"payload": "aGVsbG8="}]}`, 201, `"confirmations"`},
		{"POST", topic + "/messages", `{"partitioning": {"kind": "partition_id", "value": "AAAAAA=="}, "messages": [{"payload": ""}], "context": {"incarnation": 1, "metadata_op": 1, "owner_generation": 0}}`, 400, `"id":87`},
		{"GET", topic + "/messages?consumer_id=reader&partition_id=0&kind=first&value=0&count=10&auto_commit=true", "", 200, `"id":340282366920938463463374607431768211455`},
		{"GET", topic + "/messages/deferred?consumer_kind=consumer&consumer_id=reader&partition_id=0&kind=next&wait_us=0", "", 200, `"count":0`},
		{"GET", topic + "/consumer-offsets?consumer_id=reader&partition_id=0", "", 200, `"stored_offset":2`},
		{"PUT", topic + "/consumer-offsets", `{"consumer_id": "reader", "partition_id": 0, "offset": 0}`, 204, ""},
		{"PUT", topic + "/consumer-offsets", `{"consumer_id": "reader", "partition_id": 0, "offset": 9}`, 400, `"id":4100`},
		{"DELETE", topic + "/consumer-offsets/reader?partition_id=0", "", 204, ""},
		{"DELETE", topic + "/consumer-offsets/reader?partition_id=0", "", 404, `"id":3021`},
		{"GET", topic + "/consumer-offsets?consumer_id=reader&partition_id=0", "", 404, `"id":404,"code":"not_found"`},
		{"GET", topic + "/messages?consumer_id=reader&partition_id=99&kind=first", "", 404, `"id":3007`},
		{"POST", topic + "/consumer-groups", `{"name": "workers"}`, 200, `"members":[]`},
		{"GET", topic + "/consumer-groups", "", 200, `"members_count":0`},
		{"DELETE", topic + "/consumer-groups/workers", "", 204, ""},
		{"GET", "/streams/nowhere", "", 404, `"id":404`},
		{"DELETE", "/streams/nowhere", "", 404, `"id":10`},
		{"GET", "/stats", "", 200, `"streams_count":1`},
		{"GET", "/clients", "", 200, `[]`},
		{"GET", "/clients/1", "", 404, `"id":404`},
		{"GET", "/cluster/metadata", "", 200, `"role":"leader"`},
		{"GET", "/options/topic", "", 200, `"key":"message_expiry"`},
		{"GET", "/options/nothing", "", 400, `"field":"scope"`},
		{"POST", "/snapshot", `{"compression": "deflated", "snapshot_types": ["all"]}`, 200, "PK"},
		{"DELETE", topic, "", 204, ""},
		{"DELETE", "/users/0", "", 400, `"id":48`},
	} {
		status, text := s.send(token, step.method, step.path, step.body)
		require.Equal(t, step.status, status, "%s %s: %s", step.method, step.path, text)
		require.Contains(t, text, step.answer, "%s %s", step.method, step.path)
	}
}
