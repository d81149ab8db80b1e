package wire

import "math"

// GetSnapshot is the request of get_snapshot_file. Its reply is the archive, as it is. (Iggy binary protocol, system
// commands.)
type GetSnapshot struct {
	// Compression is how the archive is compressed, as the server numbers it.
	Compression uint8
	// Types are the parts to put into it, as the server numbers them, at most 255.
	Types []uint8
}

func (v *GetSnapshot) layout(c *coder) {
	c.u8(&v.Compression, "compression")
	list8(c, &v.Types, 1, "types", octet[uint8])
}

// ClusterMetadata is the reply to get_cluster_metadata: the nodes of a cluster.
type ClusterMetadata struct {
	// Name is the name of the cluster.
	Name string
	// Nodes are its nodes.
	Nodes []ClusterNode
}

// ClusterNode is a server of a cluster.
type ClusterNode struct {
	// ReplicaID is its number, each once.
	ReplicaID uint8
	// Name is its name.
	Name string
	// Host is the address that it says it has: a name, or an IP address.
	Host string
	// TCP is the port for TCP, with or without TLS; 0 for none.
	TCP uint16
	// QUIC is the port for QUIC; 0 for none.
	QUIC uint16
	// HTTP is the port for HTTP; 0 for none.
	HTTP uint16
	// WebSocket is the port for WebSocket; 0 for none.
	WebSocket uint16
	// Role is what it does in the cluster.
	Role NodeRole
	// Status is how it is.
	Status NodeStatus
}

// NodeRole is what a node does.
type NodeRole uint8

// The roles.
const (
	NodeLeader   NodeRole = 0
	NodeFollower NodeRole = 1
)

// NodeStatus is how a node is.
type NodeStatus uint8

// What a node may be.
const (
	NodeHealthy     NodeStatus = 0
	NodeStarting    NodeStatus = 1
	NodeStopping    NodeStatus = 2
	NodeUnreachable NodeStatus = 3
	NodeMaintenance NodeStatus = 4
)

func (v *ClusterMetadata) layout(c *coder) {
	c.text32(&v.Name, "cluster name")
	list32(c, &v.Nodes, 19, "nodes", (*ClusterNode).layout)
}

func (v *ClusterNode) layout(c *coder) {
	c.u8(&v.ReplicaID, "replica id")
	c.text32(&v.Name, "node name")
	c.text32(&v.Host, "node address")
	c.u16(&v.TCP, "tcp port")
	c.u16(&v.QUIC, "quic port")
	c.u16(&v.HTTP, "http port")
	c.u16(&v.WebSocket, "websocket port")
	code(c, &v.Role, "role")
	code(c, &v.Status, "status")
}

// DescribeOptions is the request of describe_options.
type DescribeOptions struct {
	// Scope is what the options are of.
	Scope Scope
}

// Scope is what options are of.
type Scope uint8

// The scopes.
const (
	ScopeTopic  Scope = 1
	ScopeStream Scope = 2
	ScopeUser   Scope = 3
)

func (v *DescribeOptions) layout(c *coder) { kind(c, &v.Scope, ScopeUser, "scope") }

// OptionDescriptions is the reply to describe_options.
type OptionDescriptions struct {
	// Options are the options of the scope.
	Options []OptionDescription
}

// OptionDescription says what an option is.
type OptionDescription struct {
	// Key is its name, 1 to 255 bytes.
	Key string
	// Kind is the kind of its values.
	Kind Kind
	// Flags say what may be done with it.
	Flags OptionFlags
	// Default is the value of who does not set it, in bytes of its kind; empty for none.
	Default []byte
	// Text describes it.
	Text string
}

// OptionFlags are a set of bits.
type OptionFlags uint8

// The flags.
const (
	FlagUpdatable  OptionFlags = 1
	FlagResettable OptionFlags = 2
	FlagSecret     OptionFlags = 4
	FlagReadOnly   OptionFlags = 8
	FlagCritical   OptionFlags = 16
)

func (v *OptionDescriptions) layout(c *coder) {
	list32(c, &v.Options, 12, "options", (*OptionDescription).layout)
}

func (v *OptionDescription) layout(c *coder) {
	c.name(&v.Key, "option key")
	code(c, &v.Kind, "option kind")
	code(c, &v.Flags, "option flags")
	c.bytes32(&v.Default, "option default")
	c.text32(&v.Text, "option text")
}

// GetMetadataChanges is the request of get_metadata_changes. Its reply is not described by this package. (Iggy binary
// protocol, metadata changes.)
type GetMetadataChanges struct {
	// Start says where the changes begin.
	Start ChangesStart
	// LogID, Op, Checksum and Ordinal are the cursor to begin behind, for ChangesAfter; or else 0.
	LogID    Uint128
	Op       uint64  // position in the log
	Checksum Uint128 // of the position
	Ordinal  uint32  // within the position
	// Since leaves out older changes, if HasSince.
	Since    uint64
	HasSince bool // whether Since counts
	// Until leaves out newer changes, if HasUntil.
	Until    uint64
	HasUntil bool // whether Until counts
	// Limit is the largest number of changes to return.
	Limit uint32
	// Groups are the kinds of changes, as the server numbers them, at most 255.
	Groups []uint8
	// Token is what the last reply gave to go on with; empty for none.
	Token string
}

// ChangesStart says where changes begin.
type ChangesStart uint8

// Where changes may begin.
const (
	ChangesEarliest ChangesStart = 0
	ChangesLatest   ChangesStart = 1
	ChangesAfter    ChangesStart = 2
	ChangesCurrent  ChangesStart = 3
)

func (v *GetMetadataChanges) layout(c *coder) {
	code(c, &v.Start, "start")
	c.u128(&v.LogID, "log id")
	c.u64(&v.Op, "op")
	c.u128(&v.Checksum, "checksum")
	c.u32(&v.Ordinal, "ordinal")
	c.bool(&v.HasSince, "has since")
	if v.HasSince {
		c.u64(&v.Since, "since")
	}
	c.bool(&v.HasUntil, "has until")
	if v.HasUntil {
		c.u64(&v.Until, "until")
	}
	c.u32(&v.Limit, "limit")
	list8(c, &v.Groups, 1, "groups", octet[uint8])
	c.text16(&v.Token, "token")
}

// text16 is a string with a length of two bytes.
func (c *coder) text16(v *string, field string) {
	if c.writing && len(*v) > math.MaxUint16 {
		c.fail(field, ErrLength)
		return
	}
	n := uint16(len(*v))
	c.u16(&n, field)
	c.text(v, uint64(n), field)
}
