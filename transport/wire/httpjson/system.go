package httpjson

import "encoding/json"

// Client is a connection to the server. (Iggy HTTP interface, system.)
type Client struct {
	Address     string        `json:"address"`                  // where it comes from, with its port
	ID          uint32        `json:"client_id"`                // its number
	Groups      []ClientGroup `json:"consumer_groups,omitzero"` // those that it is a member of; nil in a list of clients
	GroupsCount uint32        `json:"consumer_groups_count"`    // their number
	Transport   string        `json:"transport"`                // TCP, QUIC, HTTP or WebSocket
	UserID      *uint32       `json:"user_id"`                  // the user; nil before the login
}

// ClientGroup is a group that a client is a member of.
type ClientGroup struct {
	GroupID  uint32 `json:"group_id"`  // the group
	StreamID uint32 `json:"stream_id"` // the stream of the topic
	TopicID  uint32 `json:"topic_id"`  // the topic of the group
}

// ClusterMetadata are the nodes of a cluster.
type ClusterMetadata struct {
	Name  string        `json:"name"`  // of the cluster
	Nodes []ClusterNode `json:"nodes"` // its nodes
}

// ClusterNode is a server of a cluster.
type ClusterNode struct {
	Endpoints Endpoints `json:"endpoints"`  // its ports
	Host      string    `json:"ip"`         // its address: a name, or an IP address
	Name      string    `json:"name"`       // its name
	ReplicaID uint8     `json:"replica_id"` // its number
	Role      string    `json:"role"`       // leader or follower
	Status    string    `json:"status"`     // healthy, starting, stopping, unreachable or maintenance
}

// Endpoints are the ports of a node; 0 for none.
type Endpoints struct {
	HTTP      uint16 `json:"http"`      // for HTTP
	QUIC      uint16 `json:"quic"`      // for QUIC
	TCP       uint16 `json:"tcp"`       // for TCP
	WebSocket uint16 `json:"websocket"` // for WebSocket
}

// Stats is how a server is: see wire.Stats.
type Stats struct {
	AvailableMemory     Size                       `json:"available_memory"`      // what is free
	CacheMetrics        map[string]json.RawMessage `json:"cache_metrics"`         // of partitions, as the server has them
	ClientsCount        uint32                     `json:"clients_count"`         // of connections
	ConsumerGroupsCount uint32                     `json:"consumer_groups_count"` // of groups
	CPUUsage            float32                    `json:"cpu_usage"`             // of the server, in percent
	FreeDiskSpace       Size                       `json:"free_disk_space"`       // what is free on its disk
	Hostname            string                     `json:"hostname"`              // of the machine
	ServerSemver        *uint32                    `json:"iggy_server_semver"`    // its version as a number; nil for none
	ServerVersion       string                     `json:"iggy_server_version"`   // its version
	KernelVersion       string                     `json:"kernel_version"`        // of the machine
	MemoryUsage         Size                       `json:"memory_usage"`          // of the server
	MessagesCount       uint64                     `json:"messages_count"`        // of messages
	MessagesSize        Size                       `json:"messages_size_bytes"`   // of all messages
	OpenFilesCount      uint64                     `json:"open_files_count"`      // of files that are open
	OpenFilesLimit      uint64                     `json:"open_files_limit"`      // how many may be
	OSName              string                     `json:"os_name"`               // of the machine
	OSVersion           string                     `json:"os_version"`            // of the machine
	PartitionsCount     uint32                     `json:"partitions_count"`      // of partitions
	ProcessID           uint32                     `json:"process_id"`            // of the server
	ReadBytes           Size                       `json:"read_bytes"`            // from its disk
	RunTime             uint64                     `json:"run_time"`              // how long it runs, in microseconds
	SegmentsCount       uint32                     `json:"segments_count"`        // of segments
	StartTime           uint64                     `json:"start_time"`            // microseconds since 1970
	StreamsCount        uint32                     `json:"streams_count"`         // of streams
	ThreadsCount        uint32                     `json:"threads_count"`         // of its threads
	TopicsCount         uint32                     `json:"topics_count"`          // of topics
	TotalCPUUsage       float32                    `json:"total_cpu_usage"`       // of all, in percent
	TotalDiskSpace      Size                       `json:"total_disk_space"`      // of its disk
	TotalMemory         Size                       `json:"total_memory"`          // of the machine
	WrittenBytes        Size                       `json:"written_bytes"`         // to its disk
}
