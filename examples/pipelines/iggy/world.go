package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"

	"github.com/runnel-go/runnel/examples/internal/flightdata"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Names of topics and of the group.
const (
	allTopic  = "all"
	lateTopic = "late"
	groupName = "copy-late"
)

// Partitions of the topics.
const (
	allPartitions  = 4
	latePartitions = 2
)

// world is what the parts of the program share.
type world struct {
	client          *client.Client
	address, stream string

	produced int
	late     map[int]bool // ids of flights
}

// prepare makes the stream and its topics.
func (w *world) prepare(ctx context.Context) error {
	if _, err := w.client.CreateStream(ctx, w.stream, client.StreamOptions{}); err != nil {
		return err
	}
	for topic, partitions := range map[string]uint32{allTopic: allPartitions, lateTopic: latePartitions} {
		if _, err := w.client.CreateTopic(ctx, wire.Named(w.stream), topic, partitions, client.TopicOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) remove(ctx context.Context) error {
	return w.client.DeleteStream(context.WithoutCancel(ctx), wire.Named(w.stream))
}

// produce sends the flights of the sample, one by one: a worker gathers them into requests.
func (w *world) produce(ctx context.Context) error {
	lines, err := gzip.NewReader(bytes.NewReader(flightdata.Sample))
	if err != nil {
		return err
	}
	var failed *iggysink.SendFailedError
	p := iggysink.NewProducer(w.client, wire.Named(w.stream), wire.Named(allTopic),
		iggysink.Background(iggysink.OnError(func(e *iggysink.SendFailedError) { failed = e })))
	if err := p.Init(ctx); err != nil {
		return err
	}
	w.late = map[int]bool{}
	input := bufio.NewScanner(lines)
	for input.Scan() {
		var f flight
		if json.Unmarshal(input.Bytes(), &f) != nil {
			continue // the sample has two such lines
		}
		if _, err := p.SendOne(ctx, wire.Message{Payload: input.Bytes()}); err != nil {
			return err
		}
		w.produced++
		if f.late() {
			w.late[f.ID] = true
		}
	}
	if err := p.Shutdown(ctx); err != nil || failed != nil { // all is written, or was given to OnError
		return fmt.Errorf("%w, %w", err, failed)
	}
	return input.Err()
}
