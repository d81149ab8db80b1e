// Command iggy moves flights through Apache Iggy, and kills a part of itself on the way.
//
// A producer sends flights to a topic. Two processes, members of one consumer group, copy the late ones to a second topic.
// Half-way one of them is killed with SIGKILL; the other one takes over its partitions, and copies again what the dead one
// had copied since its last checkpoint. A third pipeline reads the second topic, drops what is there twice, and writes a file.
//
//	go run ./examples/pipelines/iggy                                          over a server of its own
//	go run ./examples/pipelines/iggy -iggy iggy+quic://iggy:iggy@127.0.0.1:8080     over yours
//
// It ends with a summary such as the following, and with status 1 if anything is missing or doubled.
//
//	produced      5,000 flights
//	late          1,115
//	copied        1,183, of which 68 again since the last checkpoint of the member that was killed
//	missing           0
//	doubled           0 in late.ndjson
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

// flight is a line of the input, and the payload of a message.
type flight struct {
	ID          int    `json:"id"`
	Date        string `json:"date"`
	Delay       int    `json:"delay"` // minutes; negative if early
	Distance    int    `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

func (f flight) late() bool { return f.Delay > 15 }

func main() {
	address := flag.String("iggy", "", "connection string of a server of yours, over TCP, QUIC or WebSocket (default: a server of its own)")
	out := flag.String("out", "", "NDJSON to write (default: late.ndjson in a new folder)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := func() error { return show(ctx, *address, *out) }
	if stream, ok := os.LookupEnv(memberVar); ok {
		run = func() error { return member(ctx, os.Getenv(addressVar), stream) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "iggy:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

// show runs all of it, and fails if a flight is missing or doubled.
func show(ctx context.Context, address, out string) (err error) {
	folder, err := os.MkdirTemp("", "iggy-")
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(folder, "late.ndjson")
	}
	if address == "" {
		server, err := iggyserver.Start(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = server.Close() }()
		address = server.ConnectionString(dial.TCP)
	}
	c, err := connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Shutdown(context.WithoutCancel(ctx)) }()
	w := &world{client: c, address: address, stream: fmt.Sprintf("flights-%x", time.Now().UnixNano())}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.remove(ctx)) }()
	if err := w.produce(ctx); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	if err := w.copyLate(ctx); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if err := w.collect(ctx, out, filepath.Join(folder, "state")); err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	return w.report(ctx, os.Stdout, out)
}

// connect returns a client of a server that answers within ten seconds.
func connect(ctx context.Context, address string) (*client.Client, error) {
	c, err := dial.Client(address)
	if err != nil {
		return nil, err
	}
	if c.Sessionless() {
		return nil, errors.New("-iggy: consumer groups need TCP, QUIC or WebSocket, not HTTP")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return c, c.Connect(ctx)
}
