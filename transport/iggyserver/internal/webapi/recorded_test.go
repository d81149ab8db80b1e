package webapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// testdata/recorded.json has what the crate iggy 0.11.0-edge.4 asked a server of protocol 0.11.0 over HTTP, in order, with
// the statuses and the errors that it was answered.
type recording struct {
	Name  string `json:"name"`
	Steps []struct {
		Method string          `json:"method"`
		Path   string          `json:"path"`
		Body   json.RawMessage `json:"body"`
		Status int             `json:"status"`
		ID     uint32          `json:"id"`
	} `json:"steps"`
}

// later are answers that are others in protocol 0.12, where options of an update stand at the top of its body.
var later = map[string]struct {
	status int
	id     uint32
}{
	"PUT /streams/orders": {400, 4},
}

func TestRequestsOfAnotherClientAreAnsweredAsItKnows(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/recorded.json")
	require.NoError(t, err)
	var all []recording
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, 9)
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			token := ""
			for _, step := range r.Steps {
				status, text := s.send(token, step.Method, step.Path, string(step.Body))
				if other, ok := later[step.Method+" "+step.Path]; ok {
					step.Status, step.ID = other.status, other.id
				}
				require.Equal(t, step.Status, status, "%s %s %s: %s", step.Method, step.Path, step.Body, text)
				if step.Path == "/users/login" && status == 200 {
					token = tokenIn(t, text)
				}
				if step.ID > 404 || step.Status != 404 && step.ID != 0 { // this server says more closely what is not there
					require.Contains(t, text, fmt.Sprintf(`"id":%d,`, step.ID), "%s %s", step.Method, step.Path)
				}
			}
		})
	}
}
