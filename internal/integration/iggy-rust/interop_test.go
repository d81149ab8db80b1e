// Package iggyrust_test runs the published Rust SDK of Apache Iggy against the embedded server, and against what this
// library reads and writes itself. README.md says how.
package iggyrust_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

// binary are the protocols that carry frames.
var binary = []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket}

// protocols are all that the program talks.
var protocols = append(slices.Clone(binary), dial.HTTP)

// scenarios are the subcommands of the program that run against a server from beginning to end over any protocol.
var scenarios = []string{
	"login", "system", "users", "tokens", "streams", "topics", "partitions", "group-admin",
	"direct", "background", "poll", "consumer", "offsets", "encryption", "raw",
}

// scenariosOver are the subcommands for a protocol: over HTTP, what needs a session is refused.
func scenariosOver(protocol dial.Protocol) []string {
	if protocol == dial.HTTP {
		return append(slices.Clone(scenarios), "refused")
	}
	return append(slices.Clone(scenarios), "groups", "idempotent")
}

// TestTheRustSDKFindsTheServerAsItShouldBe runs each scenario over each protocol.
func TestTheRustSDKFindsTheServerAsItShouldBe(t *testing.T) {
	t.Parallel()
	p := built(t)
	for _, protocol := range protocols {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			p.runAll(t, protocol, func(*testing.T) []iggyserver.Option { return nil })
		})
	}
}

// TestTheRustSDKFindsTheSameOnDisk runs the scenarios against a server that keeps its data in a folder.
func TestTheRustSDKFindsTheSameOnDisk(t *testing.T) {
	t.Parallel()
	p := built(t)
	p.runAll(t, dial.TCP, func(t *testing.T) []iggyserver.Option {
		return []iggyserver.Option{iggyserver.Data(t.TempDir())}
	})
}

// runAll runs all scenarios over a protocol, each with a server of its own: what a server counts is looked at too.
func (p program) runAll(t *testing.T, protocol dial.Protocol, options func(t *testing.T) []iggyserver.Option) {
	t.Helper()
	for _, scenario := range scenariosOver(protocol) {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			server := start(t, options(t)...)
			p.run(t, scenario, "--url", server.ConnectionString(protocol), "--name", scenario)
		})
	}
}

// start starts a server that hashes passwords once.
func start(t testing.TB, options ...iggyserver.Option) *iggyserver.Server {
	t.Helper()
	server, err := iggyserver.Start(t.Context(), append([]iggyserver.Option{iggyserver.PasswordRounds(1)}, options...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}
