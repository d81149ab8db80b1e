package client

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// SnapshotCompression is how the archive of [Client.GetSnapshot] is compressed.
type SnapshotCompression uint8

// The compressions. A server need not know all of them.
const (
	SnapshotStored   SnapshotCompression = 1
	SnapshotDeflated SnapshotCompression = 2
	SnapshotBzip2    SnapshotCompression = 3
	SnapshotZstd     SnapshotCompression = 4
	SnapshotLZMA     SnapshotCompression = 5
	SnapshotXz       SnapshotCompression = 6
)

// SnapshotPart is a part of the archive of [Client.GetSnapshot].
type SnapshotPart uint8

// The parts.
const (
	SnapshotFilesystem    SnapshotPart = 1   // what files the server has
	SnapshotProcesses     SnapshotPart = 2   // what runs on its machine
	SnapshotResourceUsage SnapshotPart = 3   // what it uses of the machine
	SnapshotTest          SnapshotPart = 4   // a text for tests
	SnapshotServerLogs    SnapshotPart = 5   // its logs
	SnapshotServerConfig  SnapshotPart = 6   // its settings
	SnapshotAll           SnapshotPart = 100 // all of these
)

// GetStats returns numbers about the server, its machine, and what is stored. It needs the right to read servers.
func (c *Client) GetStats(ctx context.Context) (wire.Stats, error) {
	return call[wire.Stats](ctx, c, wire.CmdGetStats, nil)
}

// GetMe returns what the server knows about the connection of this client.
func (c *Client) GetMe(ctx context.Context) (wire.ClientDetails, error) {
	return call[wire.ClientDetails](ctx, c, wire.CmdGetMe, nil)
}

// GetClient returns the connection with a number, as [Client.GetClients] has it. If there is none the error is
// [wire.CodeClientNotFound]. It needs the right to read servers.
func (c *Client) GetClient(ctx context.Context, id uint32) (wire.ClientDetails, error) {
	return callOne[wire.ClientDetails](ctx, c, wire.CmdGetClient, &wire.GetClient{ClientID: id}, wire.CodeClientNotFound)
}

// GetClients returns the connections to the server. It needs the right to read servers.
func (c *Client) GetClients(ctx context.Context) ([]wire.Client, error) {
	r, err := call[wire.Clients](ctx, c, wire.CmdGetClients, nil)
	return r.Clients, err
}

// GetClusterMetadata returns the nodes of the cluster: one for a server that is alone.
func (c *Client) GetClusterMetadata(ctx context.Context) (wire.ClusterMetadata, error) {
	return call[wire.ClusterMetadata](ctx, c, wire.CmdGetClusterMetadata, nil)
}

// DescribeOptions returns which options streams, topics or users have, with their kinds and defaults.
func (c *Client) DescribeOptions(ctx context.Context, scope wire.Scope) ([]wire.OptionDescription, error) {
	const command = wire.CmdDescribeOptions
	if scope < wire.ScopeTopic || scope > wire.ScopeUser {
		return nil, check(command, &fault{wire.CodeInvalidCommand, fmt.Sprintf("scope %d, not 1 to 3", scope)})
	}
	r, err := call[wire.OptionDescriptions](ctx, c, command, &wire.DescribeOptions{Scope: scope})
	return r.Options, err
}

// GetSnapshot returns an archive about the server, for who looks for a fault: a ZIP file. No parts mean [SnapshotAll]. It
// needs the right to read servers. The archive has to fit into a reply: see the limits of the dialer.
func (c *Client) GetSnapshot(
	ctx context.Context, compression SnapshotCompression, parts ...SnapshotPart,
) ([]byte, error) {
	const command = wire.CmdGetSnapshot
	body := &wire.GetSnapshot{Compression: uint8(compression)}
	if compression < SnapshotStored || compression > SnapshotXz {
		return nil, check(command, &fault{wire.CodeInvalidCommand, fmt.Sprintf("compression %d, not 1 to 6", compression)})
	}
	if len(parts) == 0 {
		parts = []SnapshotPart{SnapshotAll}
	}
	if len(parts) > 7 {
		return nil, check(command, &fault{wire.CodeInvalidCommand, fmt.Sprintf("%d parts, not up to 7", len(parts))})
	}
	for _, p := range parts {
		if p != SnapshotAll && (p < SnapshotFilesystem || p > SnapshotServerConfig) {
			return nil, check(command, &fault{wire.CodeInvalidCommand, fmt.Sprintf("part %d, not 1 to 6 or 100", p)})
		}
		body.Types = append(body.Types, uint8(p))
	}
	return callBytes(ctx, c, command, body)
}
