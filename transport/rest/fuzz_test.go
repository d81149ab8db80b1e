package rest_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/rest"
	"github.com/runnel-go/runnel/transport/wire"
)

// FuzzHandler wants that no request makes the handler panic or answer with a fault of its own, that a refusal is JSON, and
// that what reaches the backend is a whole frame.
func FuzzHandler(f *testing.F) {
	const topic = "/streams/s/topics/t"
	for _, seed := range [][3]string{
		{"POST", "/streams", `{"name": "s", "options": {"message_expiry": 5}}`},
		{"PUT", topic, `{"a": true, "reset": ["b"]}`},
		{"POST", topic + "/messages", `{"partitioning": {"kind": "balanced", "value": ""}, "messages": [{"id": "1", "payload": "aGVsbG8="}]}`},
		{"GET", topic + "/messages/deferred?consumer_id=r&partition_id=0&kind=next&count=2&context=%7B%7D", ""},
		{"PUT", topic + "/consumer-offsets", `{"consumer_id": "r", "partition_id": 0, "offset": 5, "context": {"incarnation": 1}}`},
		{"DELETE", topic + "/consumer-offsets/r?consumer_kind=consumer_group", ""},
		{"POST", "/users", `{"username": "u", "password": "p", "status": "active", "permissions": {"streams": {"1": {"topics": {"2": {}}}}}}`},
		{"POST", "/users/login", `{"username": "iggy", "password": "secret"}`},
		{"GET", "/options/topic", ""},
		{"POST", "/snapshot", `{"compression": "xz", "snapshot_types": ["all"]}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	b := says(nil)
	h := handler(f, b)
	f.Fuzz(func(t *testing.T, method, target, body string) {
		u, err := url.Parse(target)
		if err != nil || !strings.HasPrefix(target, "/") || u.Host != "" || !token(method) {
			return
		}
		before := len(b.requests())
		r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
		r.URL, r.RequestURI = u, target
		r.Header.Set("Authorization", "Bearer "+theToken)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Less(t, w.Code, 500)
		if w.Code >= 400 {
			require.True(t, json.Valid(w.Body.Bytes()), "%q", w.Body.String())
		}
		for _, request := range b.requests()[before:] {
			header, _, err := wire.DecodeRequest(request)
			require.NoError(t, err)
			require.NoError(t, header.Validate())
		}
	})
}

// token says whether a text can be a method.
func token(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// FuzzAnswer wants that no answer of a server makes a client panic, and that what it takes for a reply is one.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{"confirmations": [{"base_offset": 1}]}`, `{"count": 1, "messages": [{"header": {"id": 1}, "payload": "aGVsbG8="}]}`,
		`{"name": "s", "options": {"a": {"kind": "uint8", "value": "1"}}}`, `{"partitions_count": 1, "partitions": [{"members": [256]}]}`,
		`{"permissions": {"global": {}}, "status": "active", "username": "u"}`, `[{"transport": "TCP"}]`, `{"nodes": [{"role": "leader"}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { readAnswer(t, text) })
}

func readAnswer(t *testing.T, text string) {
	t.Helper()
	for _, frame := range rest.ReadAnswer(text) {
		h, body, err := wire.DecodeReply(frame)
		require.NoError(t, err)
		_, _, err = h.Result(body)
		require.NoError(t, err)
	}
}
