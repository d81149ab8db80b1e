package wire

// Stats is the reply to get_stats. (Iggy binary protocol, statistics.)
type Stats struct {
	// ProcessID is the process of the server.
	ProcessID uint32
	// CPU is its use of the processors in percent.
	CPU float32
	// TotalCPU is the use of the processors by all in percent.
	TotalCPU float32
	// Memory is the memory it uses, in bytes.
	Memory uint64
	// TotalMemory is the memory of the machine, in bytes.
	TotalMemory uint64
	// AvailableMemory is what of it is free, in bytes.
	AvailableMemory uint64
	// RunTime is how long the server runs, in microseconds.
	RunTime uint64
	// StartTime is when it was started, in microseconds since 1970.
	StartTime uint64
	// ReadBytes is what it has read from its disk.
	ReadBytes uint64
	// WrittenBytes is what it has written to its disk.
	WrittenBytes uint64
	// MessagesBytes is the size of all messages.
	MessagesBytes uint64
	// Streams is the number of streams.
	Streams uint32
	// Topics is the number of topics.
	Topics uint32
	// Partitions is the number of partitions.
	Partitions uint32
	// Segments is the number of segments.
	Segments uint32
	// Messages is the number of messages.
	Messages uint64
	// Clients is the number of connections.
	Clients uint32
	// Groups is the number of groups.
	Groups uint32
	// Hostname is the name of the machine.
	Hostname string
	// OSName is the name of its system.
	OSName string
	// OSVersion is the version of its system.
	OSVersion string
	// Kernel is the version of its kernel.
	Kernel string
	// ServerVersion is the version of the server.
	ServerVersion string
	// ServerSemver is the version of the server as a number that grows; 0 for none.
	ServerSemver uint32
	// Caches are the caches of partitions.
	Caches []CacheStats
	// Threads is the number of threads of the server.
	Threads uint32
	// FreeDisk is what is free on its disk, in bytes.
	FreeDisk uint64
	// TotalDisk is the size of its disk, in bytes.
	TotalDisk uint64
	// OpenFiles is the number of files that it has open; 0 from a server that does not tell.
	OpenFiles uint64
	// OpenFilesLimit is how many it may open; 0 from a server that does not tell.
	OpenFilesLimit uint64
}

// CacheStats is how well the cache of a partition does.
type CacheStats struct {
	// StreamID is the stream.
	StreamID uint32
	// TopicID is the topic.
	TopicID uint32
	// PartitionID is the partition.
	PartitionID uint32
	// Hits is how often it had what was read.
	Hits uint64
	// Misses is how often it had not.
	Misses uint64
	// HitRatio is the part of the hits, from 0 to 1.
	HitRatio float32
}

func (v *Stats) layout(c *coder) {
	v.numbers(c)
	c.text32(&v.Hostname, "hostname")
	c.text32(&v.OSName, "os name")
	c.text32(&v.OSVersion, "os version")
	c.text32(&v.Kernel, "kernel")
	c.text32(&v.ServerVersion, "server version")
	c.u32(&v.ServerSemver, "server semver")
	list32(c, &v.Caches, 32, "caches", (*CacheStats).layout)
	c.u32(&v.Threads, "threads")
	c.u64(&v.FreeDisk, "free disk")
	c.u64(&v.TotalDisk, "total disk")
	if !c.writing && !c.more() {
		return // a server may leave out what follows
	}
	c.u64(&v.OpenFiles, "open files")
	c.u64(&v.OpenFilesLimit, "open files limit")
}

func (v *Stats) numbers(c *coder) {
	c.u32(&v.ProcessID, "process id")
	c.f32(&v.CPU, "cpu")
	c.f32(&v.TotalCPU, "total cpu")
	c.u64(&v.Memory, "memory")
	c.u64(&v.TotalMemory, "total memory")
	c.u64(&v.AvailableMemory, "available memory")
	c.u64(&v.RunTime, "run time")
	c.u64(&v.StartTime, "start time")
	c.u64(&v.ReadBytes, "read bytes")
	c.u64(&v.WrittenBytes, "written bytes")
	c.u64(&v.MessagesBytes, "messages size")
	c.u32(&v.Streams, "streams")
	c.u32(&v.Topics, "topics")
	c.u32(&v.Partitions, "partitions")
	c.u32(&v.Segments, "segments")
	c.u64(&v.Messages, "messages")
	c.u32(&v.Clients, "clients")
	c.u32(&v.Groups, "groups")
}

func (v *CacheStats) layout(c *coder) {
	c.u32(&v.StreamID, "stream id")
	c.u32(&v.TopicID, "topic id")
	c.u32(&v.PartitionID, "partition id")
	c.u64(&v.Hits, "hits")
	c.u64(&v.Misses, "misses")
	c.f32(&v.HitRatio, "hit ratio")
}
