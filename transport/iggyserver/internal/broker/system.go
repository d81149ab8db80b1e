package broker

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// getStats tells what the broker itself knows. What only the machine knows is 0.
func getStats(r *request, _ wire.Empty) (wire.Body, wire.Code) {
	if !r.may(readServers) {
		return nil, wire.CodeUnauthorized
	}
	b := r.broker
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	s := wire.Stats{
		ProcessID:     uint32(os.Getpid()),
		Memory:        memory.Sys,
		RunTime:       b.now() - micros(b.started),
		StartTime:     micros(b.started),
		Streams:       uint32(b.streams.len()),
		Clients:       uint32(len(b.links)),
		Hostname:      b.node.Name,
		OSName:        runtime.GOOS,
		ServerVersion: b.config.ServerVersion,
		Threads:       uint32(runtime.GOMAXPROCS(0)),
	}
	for _, stream := range b.streams.all() {
		s.Topics += uint32(stream.topics.len())
		for _, t := range stream.topics.all() {
			size, messages, segments := t.totals()
			s.MessagesBytes, s.Messages, s.Segments = s.MessagesBytes+size, s.Messages+messages, s.Segments+segments
			s.Partitions += uint32(len(t.partitions))
			s.Groups += uint32(t.groups.len())
		}
	}
	return &s, 0
}

func getClusterMetadata(r *request, _ wire.Empty) (wire.Body, wire.Code) {
	return &wire.ClusterMetadata{Name: "single-node", Nodes: []wire.ClusterNode{r.broker.node}}, 0
}

func describeOptions(_ *request, arguments wire.DescribeOptions) (wire.Body, wire.Code) {
	catalogue := topicOptions
	switch arguments.Scope {
	case wire.ScopeStream:
		catalogue = streamOptions
	case wire.ScopeUser:
		catalogue = userOptions
	}
	var d wire.OptionDescriptions
	for _, o := range catalogue {
		d.Options = append(d.Options, wire.OptionDescription{
			Key: o.key, Kind: o.kind, Flags: o.flags, Default: o.value.Data, Text: o.text,
		})
	}
	return &d, 0
}

func (l *Link) header() wire.Client {
	c := wire.Client{ID: l.id, Transport: l.peer.Transport, Address: l.peer.Address}
	if l.session != nil {
		c.UserID, c.GroupsCount = l.session.user.id, uint32(len(l.session.members))
	}
	return c
}

func (l *Link) details() wire.Body {
	d := wire.ClientDetails{Client: l.header()}
	if l.session != nil {
		for g := range l.session.members {
			d.Groups = append(d.Groups, wire.ClientGroup{StreamID: g.topic.stream.id, TopicID: g.topic.id, GroupID: g.id})
		}
		slices.SortFunc(d.Groups, func(a, b wire.ClientGroup) int {
			return cmp.Or(cmp.Compare(a.StreamID, b.StreamID), cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.GroupID, b.GroupID))
		})
	}
	return &d
}

func getMe(r *request, _ wire.Empty) (wire.Body, wire.Code) { return r.link.details(), 0 }

func getClient(r *request, arguments wire.GetClient) (wire.Body, wire.Code) {
	if !r.may(readServers) {
		return nil, wire.CodeUnauthorized
	}
	l := r.broker.links[arguments.ClientID]
	if l == nil {
		return nil, 0
	}
	return l.details(), 0
}

func getClients(r *request, _ wire.Empty) (wire.Body, wire.Code) {
	if !r.may(readServers) {
		return nil, wire.CodeUnauthorized
	}
	var c wire.Clients
	for _, id := range slices.Sorted(maps.Keys(r.broker.links)) {
		c.Clients = append(c.Clients, r.broker.links[id].header())
	}
	return &c, 0
}

// getSnapshot answers with a zip archive of one file, which says what the server is.
func getSnapshot(_ context.Context, r *request) outcome {
	if _, err := wire.Decode[wire.GetSnapshot](r.body); err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	if !r.mayNow(readServers) {
		return refused(wire.CodeUnauthorized)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	f, err := z.Create("server.txt")
	if err == nil {
		_, err = fmt.Fprintf(f, "runnel embedded server %s, protocol %s\n", r.broker.config.ServerVersion, r.broker.config.Version)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return refused(wire.CodeError)
	}
	return outcome{raw: archive.Bytes()}
}
