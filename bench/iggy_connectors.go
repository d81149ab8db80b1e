package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source/iggysource"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// groupPartitions are those of the topic that a group reads.
const groupPartitions = 4

// iggyConnectors compares the producers and consumers of Runnel and of the SDK in Rust over one server and TCP: one kind of
// producer, or a group of one member.
func iggyConnectors(what, title string) func(settings) (group, error) {
	return func(s settings) (group, error) {
		server, err := startIggy()
		if err != nil {
			return group{}, err
		}
		url := server.urls["tcp"]
		contenders := []contender{
			rustIggy{label: "Rust SDK", program: s.rust, url: url, what: what, size: s.size, polling: what == "group"},
			connectorIggy{url: url, what: what, size: s.size},
		}
		if _, err := os.Stat(s.rust); err != nil {
			fmt.Fprintf(os.Stderr, "bench: no %q: the Rust SDK is left out\n", s.rust)
			contenders = contenders[1:]
		}
		return group{
			title:      fmt.Sprintf("iggy: %s, messages of %d bytes", title, s.size),
			n:          1_000_000,
			unit:       "messages/s",
			want:       func(n int) int64 { return int64(n) },
			contenders: contenders,
			end:        server.stop,
		}, nil
	}
}

// connectorIggy is a producer or consumer of Runnel.
type connectorIggy struct {
	url, what string
	size      int
}

func (r connectorIggy) name() string { return "Runnel" }
func (r connectorIggy) share() int   { return 1 }

func (r connectorIggy) run(ctx context.Context, n int) (_ outcome, err error) {
	partitions := uint32(1)
	if r.what == "group" {
		partitions = groupPartitions
	}
	c, remove, err := iggyTopic(ctx, r.url, partitions)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if r.what == "group" {
		return r.consume(ctx, c, n)
	}
	return r.produce(ctx, c, n)
}

// produce sends batches, or single messages, and waits until all are written.
func (r connectorIggy) produce(ctx context.Context, c *client.Client, n int) (outcome, error) {
	mode := iggysink.Direct()
	if r.what != "direct" {
		mode = iggysink.Background()
	}
	p := iggysink.NewProducer(c, benchStream, benchTopic, mode, iggysink.PartitionBy(iggysink.ToPartition(0)))
	if err := p.Init(ctx); err != nil {
		return outcome{}, err
	}
	messages := make([]wire.Message, iggyBatch)
	payload := make([]byte, r.size)
	begin, used := time.Now(), cpuTime()
	for sent := 0; sent < n; {
		if r.what == "single" {
			if _, err := p.SendOne(ctx, wire.Message{Payload: payload}); err != nil {
				return outcome{}, err
			}
			sent++
			continue
		}
		for i := range messages { // as new: each gets an id of its own
			messages[i] = wire.Message{Payload: payload}
		}
		batch := messages[:min(n-sent, iggyBatch)]
		if _, err := p.Send(ctx, batch); err != nil {
			return outcome{}, err
		}
		sent += len(batch)
	}
	if err := p.Shutdown(ctx); err != nil {
		return outcome{}, err
	}
	return outcome{count: int64(p.Stats().Confirmed), took: time.Since(begin), cpu: cpuTime() - used}, nil
}

// consume reads everything as the one member of a group that stores no offsets.
func (r connectorIggy) consume(ctx context.Context, c *client.Client, n int) (outcome, error) {
	messages := make([]wire.Message, iggyBatch)
	for i := range messages {
		messages[i].Payload = make([]byte, r.size)
	}
	for sent := 0; sent < n; sent += iggyBatch {
		to := client.Partition{Stream: benchStream, Topic: benchTopic, ID: uint32(sent/iggyBatch) % groupPartitions}
		if _, _, err := c.Send(ctx, to, nil, messages[:min(n-sent, iggyBatch)]); err != nil {
			return outcome{}, err
		}
	}
	begin, used := time.Now(), cpuTime()
	consumer := iggysource.NewConsumer(c, "speed", benchStream, benchTopic, iggysource.Group())
	if err := consumer.Init(ctx); err != nil {
		return outcome{}, err
	}
	count := 0
	for m, err := range consumer.Messages(ctx) {
		if err != nil {
			return outcome{}, err
		}
		if len(m.Payload) != r.size {
			return outcome{}, errors.New("another size")
		}
		if count++; count == n {
			break
		}
	}
	o := outcome{count: int64(count), took: time.Since(begin), cpu: cpuTime() - used}
	return o, consumer.Shutdown(ctx)
}
