package httpjson

import (
	"fmt"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// Names that stand for numbers of the binary protocol, in the order of the numbers from the first one on. (Iggy HTTP
// interface, enumerations.)
var (
	transports   = []string{"TCP", "QUIC", "HTTP", "WebSocket"} // from 1
	roles        = []string{"leader", "follower"}               // from 0
	nodeStatuses = []string{"healthy", "starting", "stopping", "unreachable", "maintenance"}
	compressions = []string{"stored", "deflated", "bzip2", "zstd", "lzma", "xz"} // from 1
	snapshots    = []string{"filesystem_overview", "process_list", "resource_usage", "test", "server_logs", "server_config"}
	scopes       = []string{"topic", "stream", "user"} // from 1
)

// allParts is the snapshot of everything, whose number is not the next one.
const (
	allParts       = "all"
	allPartsNumber = 100
)

// nameOf returns the name of a number; one that has none is a number in decimal.
func nameOf[N ~uint8](names []string, first, n N) string {
	if n >= first && int(n-first) < len(names) {
		return names[n-first]
	}
	return fmt.Sprint(uint8(n))
}

func numberOf[N ~uint8](names []string, first N, name string) (N, error) {
	if at := slices.Index(names, name); at >= 0 {
		return first + N(at), nil
	}
	return 0, errName
}

// ScopeName returns the name of a scope.
func ScopeName(s wire.Scope) string { return nameOf(scopes, wire.ScopeTopic, s) }

// ScopeNamed returns the scope with a name.
func ScopeNamed(name string) (wire.Scope, error) { return numberOf(scopes, wire.ScopeTopic, name) }

// ClientOf returns a client as a list of clients has it.
func ClientOf(c wire.Client) Client {
	return Client{
		Address: c.Address, ID: c.ID, GroupsCount: c.GroupsCount,
		Transport: nameOf(transports, wire.TransportTCP, c.Transport), UserID: &c.UserID,
	}
}

// ClientDetailsOf returns a client with its groups.
func ClientDetailsOf(d wire.ClientDetails) Client {
	c := ClientOf(d.Client)
	c.Groups = make([]ClientGroup, 0, len(d.Groups))
	for _, g := range d.Groups {
		c.Groups = append(c.Groups, ClientGroup{GroupID: g.GroupID, StreamID: g.StreamID, TopicID: g.TopicID})
	}
	return c
}

// Wire returns the client without its groups. One that has not logged in has the user 0.
func (c *Client) Wire() (wire.Client, error) {
	transport, err := numberOf(transports, wire.TransportTCP, c.Transport)
	if err != nil {
		return wire.Client{}, fmt.Errorf("transport: %w", err)
	}
	client := wire.Client{ID: c.ID, Transport: transport, Address: c.Address, GroupsCount: c.GroupsCount}
	if c.UserID != nil {
		client.UserID = *c.UserID
	}
	return client, nil
}

// Details returns the client with its groups.
func (c *Client) Details() (d wire.ClientDetails, err error) {
	if d.Client, err = c.Wire(); err != nil {
		return d, err
	}
	for _, g := range c.Groups {
		d.Groups = append(d.Groups, wire.ClientGroup{StreamID: g.StreamID, TopicID: g.TopicID, GroupID: g.GroupID})
	}
	return d, counted("groups", c.GroupsCount, len(c.Groups))
}

// ClusterMetadataOf returns the nodes of a cluster.
func ClusterMetadataOf(m wire.ClusterMetadata) ClusterMetadata {
	all := ClusterMetadata{Name: m.Name, Nodes: make([]ClusterNode, 0, len(m.Nodes))}
	for _, n := range m.Nodes {
		all.Nodes = append(all.Nodes, ClusterNode{
			Endpoints: Endpoints{HTTP: n.HTTP, QUIC: n.QUIC, TCP: n.TCP, WebSocket: n.WebSocket},
			Host:      n.Host, Name: n.Name, ReplicaID: n.ReplicaID,
			Role: nameOf(roles, wire.NodeLeader, n.Role), Status: nameOf(nodeStatuses, wire.NodeHealthy, n.Status),
		})
	}
	return all
}

// Wire returns the nodes.
func (m *ClusterMetadata) Wire() (wire.ClusterMetadata, error) {
	nodes, err := each(m.Nodes, (*ClusterNode).wire)
	return wire.ClusterMetadata{Name: m.Name, Nodes: nodes}, err
}

func (n *ClusterNode) wire() (wire.ClusterNode, error) {
	role, err := numberOf(roles, wire.NodeLeader, n.Role)
	if err != nil {
		return wire.ClusterNode{}, fmt.Errorf("role: %w", err)
	}
	status, err := numberOf(nodeStatuses, wire.NodeHealthy, n.Status)
	if err != nil {
		return wire.ClusterNode{}, fmt.Errorf("status: %w", err)
	}
	return wire.ClusterNode{
		ReplicaID: n.ReplicaID, Name: n.Name, Host: n.Host, TCP: n.Endpoints.TCP, QUIC: n.Endpoints.QUIC,
		HTTP: n.Endpoints.HTTP, WebSocket: n.Endpoints.WebSocket, Role: role, Status: status,
	}, nil
}

// Snapshot is the body of a request for an archive about the server.
type Snapshot struct {
	Compression string   `json:"compression"`    // such as deflated
	Types       []string `json:"snapshot_types"` // the parts of it, such as server_logs, or all
}

// SnapshotOf returns the request.
func SnapshotOf(s wire.GetSnapshot) Snapshot {
	all := Snapshot{Compression: nameOf(compressions, 1, s.Compression), Types: make([]string, 0, len(s.Types))}
	for _, t := range s.Types {
		name := allParts
		if t != allPartsNumber {
			name = nameOf(snapshots, 1, t)
		}
		all.Types = append(all.Types, name)
	}
	return all
}

// Wire returns the request.
func (s *Snapshot) Wire() (wire.GetSnapshot, error) {
	compression, err := numberOf(compressions, uint8(1), s.Compression)
	if err != nil {
		return wire.GetSnapshot{}, fmt.Errorf("compression: %w", err)
	}
	all := wire.GetSnapshot{Compression: compression}
	for _, name := range s.Types {
		n := uint8(allPartsNumber)
		if name != allParts {
			if n, err = numberOf(snapshots, uint8(1), name); err != nil {
				return wire.GetSnapshot{}, fmt.Errorf("snapshot_types: %w", err)
			}
		}
		all.Types = append(all.Types, n)
	}
	return all, nil
}

// OptionDescription says what an option is.
type OptionDescription struct {
	Key     string  `json:"key"`             // its name
	Kind    Kind    `json:"kind"`            // of its values
	Default Numbers `json:"default_value"`   // the bytes of what it is if nobody sets it; none for nothing
	Text    string  `json:"description"`     // describes it
	Flags   uint8   `json:"flags,omitempty"` // what may be done with it, as wire.OptionFlags; older servers leave it out
}

// OptionDescriptionOf returns what an option is.
func OptionDescriptionOf(d wire.OptionDescription) OptionDescription {
	return OptionDescription{
		Key: d.Key, Kind: Kind(d.Kind), Default: numbersOf(d.Default), Text: d.Text, Flags: uint8(d.Flags),
	}
}

// Wire returns what an option is.
func (d *OptionDescription) Wire() (wire.OptionDescription, error) {
	value, err := d.Default.bytes()
	return wire.OptionDescription{
		Key: d.Key, Kind: wire.Kind(d.Kind), Flags: wire.OptionFlags(d.Flags), Default: value, Text: d.Text,
	}, err
}
