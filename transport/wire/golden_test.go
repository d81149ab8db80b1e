package wire_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// The vectors of testdata/golden.json were made by running the crates iggy_binary_protocol 0.11.1-edge.8, iggy_common
// 0.11.1-edge.10 and iggy 0.11.1-edge.9, which speak protocol 0.12.2.
const vectorsInFile = 354

// vector is one of them.
type vector struct {
	Name   string         `json:"name"`
	Kind   string         `json:"kind"`
	Fields map[string]any `json:"fields"`
	Hex    string         `json:"hex"`

	bytes []byte
}

// check holds the package against a vector, in both directions.
type check func(t *testing.T, v vector)

func TestGoldenVectors(t *testing.T) {
	t.Parallel()
	checks := allChecks(t)
	vectors := loadVectors(t)
	require.Len(t, vectors, vectorsInFile)
	done := map[string]bool{}
	for _, v := range vectors {
		c := checks[v.Name]
		require.NotNil(t, c, "no check for %s", v.Name)
		require.False(t, done[v.Name], "%s is there twice", v.Name)
		done[v.Name] = true
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			c(t, v)
		})
	}
	require.Len(t, done, vectorsInFile)
	require.Len(t, checks, vectorsInFile, "a check has no vector")
}

func loadVectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var vectors []vector
	require.NoError(t, decoder.Decode(&vectors))
	for i := range vectors {
		v := &vectors[i]
		v.bytes, err = hex.DecodeString(v.Hex)
		require.NoError(t, err, v.Name)
	}
	return vectors
}

// allChecks returns the checks by the names of their vectors.
func allChecks(t *testing.T) map[string]check {
	t.Helper()
	all := map[string]check{}
	add := func(name string, c check) {
		require.NotContains(t, all, name)
		all[name] = c
	}
	for name, b := range requestBodies() {
		add("request/"+name+"/body", b.same)
		add("request/"+name+"/frame", requestFrame(b))
	}
	for name, b := range replyBodies() {
		add("reply/"+name, b.same)
	}
	for _, checks := range []map[string]check{
		primitiveChecks(), replyFrameChecks(), evictionChecks(), batchChecks(), httpChecks(),
	} {
		for name, c := range checks {
			add(name, c)
		}
	}
	for _, v := range loadVectors(t) {
		if strings.HasPrefix(v.Name, "command/") {
			add(v.Name, checkCommand)
		}
	}
	add("request/cancel_deferred/frame", cancelFrame)
	return all
}

// pointer is a pointer to T, which is a body.
type pointer[T any] interface {
	*T
	wire.Body
}

// body is a body, and how it looks on the wire.
type body struct {
	wire.Body
	// same wants that the value and the bytes of the vector are encoded and decoded into each other.
	same check
}

func bodyOf[T any, P pointer[T]](want T) body {
	return body{P(&want), func(t *testing.T, v vector) {
		t.Helper()
		encoded, err := wire.Append([]byte("before"), P(&want))
		require.NoError(t, err)
		require.Equal(t, "before"+string(v.bytes), string(encoded))
		decoded, err := wire.Decode[T, P](v.bytes)
		require.NoError(t, err)
		require.Equal(t, want, decoded)
	}}
}

// number returns a field of the vector; it is decimal, or hexadecimal with 0x in front.
func (v vector) number(t *testing.T, field string) uint64 {
	t.Helper()
	n, ok := v.Fields[field].(json.Number)
	require.True(t, ok, "%s is no number", field)
	u, err := strconv.ParseUint(n.String(), 10, 64)
	require.NoError(t, err)
	return u
}

// wide returns a field of the vector that has 128 bits.
func (v vector) wide(t *testing.T, field string) wire.Uint128 {
	t.Helper()
	text, ok := v.Fields[field].(string)
	require.True(t, ok, "%s is no text", field)
	return wide(t, text)
}

func wide(t *testing.T, text string) wire.Uint128 {
	t.Helper()
	digits := strings.TrimPrefix(text, "0x")
	require.Len(t, digits, 32)
	hi, err := strconv.ParseUint(digits[:16], 16, 64)
	require.NoError(t, err)
	lo, err := strconv.ParseUint(digits[16:], 16, 64)
	require.NoError(t, err)
	return wire.Uint128{Hi: hi, Lo: lo}
}

// What the vectors have in common.
var (
	goldenClient   = wire.Uint128{Hi: 0x0011223344556677, Lo: 0x8899aabbccddeeff}
	goldenChecksum = wire.Uint128{Hi: 0x0102030405060708, Lo: 0x090a0b0c0d0e0f10}
	goldenInfo     = wire.ClientInfo{Version: wire.Version0122, SDKName: "go-sdk", SDKVersion: "0.1.0"}
)

const goldenTime = 1700000000000000 // microseconds since 1970

func goldenSecret() (secret [wire.SecretSize]byte) {
	for i := range secret {
		secret[i] = byte(i)
	}
	return secret
}
