package httpjson

import (
	"encoding/json"

	"github.com/runnel-go/runnel/transport/wire"
)

// StatsOf returns how a server is. The caches of partitions have no form here and are left out.
func StatsOf(s wire.Stats) Stats {
	all := Stats{
		AvailableMemory: Size(s.AvailableMemory), CacheMetrics: map[string]json.RawMessage{}, ClientsCount: s.Clients,
		ConsumerGroupsCount: s.Groups, CPUUsage: s.CPU, FreeDiskSpace: Size(s.FreeDisk), Hostname: s.Hostname,
		ServerVersion: s.ServerVersion, KernelVersion: s.Kernel, MemoryUsage: Size(s.Memory), MessagesCount: s.Messages,
		MessagesSize: Size(s.MessagesBytes), OpenFilesCount: s.OpenFiles, OpenFilesLimit: s.OpenFilesLimit, OSName: s.OSName,
		OSVersion: s.OSVersion, PartitionsCount: s.Partitions, ProcessID: s.ProcessID, ReadBytes: Size(s.ReadBytes),
		RunTime: s.RunTime, SegmentsCount: s.Segments, StartTime: s.StartTime, StreamsCount: s.Streams,
		ThreadsCount: s.Threads, TopicsCount: s.Topics, TotalCPUUsage: s.TotalCPU, TotalDiskSpace: Size(s.TotalDisk),
		TotalMemory: Size(s.TotalMemory), WrittenBytes: Size(s.WrittenBytes),
	}
	if s.ServerSemver != 0 {
		all.ServerSemver = &s.ServerSemver
	}
	return all
}

// Wire returns how a server is, without the caches of partitions.
func (s *Stats) Wire() (wire.Stats, error) {
	all := wire.Stats{
		ProcessID: s.ProcessID, CPU: s.CPUUsage, TotalCPU: s.TotalCPUUsage, Memory: uint64(s.MemoryUsage),
		TotalMemory: uint64(s.TotalMemory), AvailableMemory: uint64(s.AvailableMemory), RunTime: s.RunTime,
		StartTime: s.StartTime, ReadBytes: uint64(s.ReadBytes), WrittenBytes: uint64(s.WrittenBytes),
		MessagesBytes: uint64(s.MessagesSize), Streams: s.StreamsCount, Topics: s.TopicsCount,
		Partitions: s.PartitionsCount, Segments: s.SegmentsCount, Messages: s.MessagesCount, Clients: s.ClientsCount,
		Groups: s.ConsumerGroupsCount, Hostname: s.Hostname, OSName: s.OSName, OSVersion: s.OSVersion,
		Kernel: s.KernelVersion, ServerVersion: s.ServerVersion, Threads: s.ThreadsCount,
		FreeDisk: uint64(s.FreeDiskSpace), TotalDisk: uint64(s.TotalDiskSpace), OpenFiles: s.OpenFilesCount,
		OpenFilesLimit: s.OpenFilesLimit,
	}
	if s.ServerSemver != nil {
		all.ServerSemver = *s.ServerSemver
	}
	return all, nil
}
