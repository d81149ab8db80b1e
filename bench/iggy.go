package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// iggyBatch is the number of messages in a request.
const iggyBatch = 1000

// iggyGroup compares clients of Iggy over one server, which is a process of its own: sending, or polling what was sent. Each
// client makes a stream of its own and removes it.
func iggyGroup(polling bool) func(settings) (group, error) {
	return func(s settings) (group, error) {
		server, err := startIggy()
		if err != nil {
			return group{}, err
		}
		var rust, ours []contender
		for _, protocol := range []string{"tcp", "quic", "ws"} {
			url := server.urls[protocol]
			ours = append(ours, runnelIggy{label: "Runnel, " + protocol, url: url, size: s.size, polling: polling})
			rust = append(rust, rustIggy{label: "Rust SDK, " + protocol, program: s.rust, url: url, what: "requests", size: s.size, polling: polling})
		}
		if _, err := os.Stat(s.rust); err != nil {
			fmt.Fprintf(os.Stderr, "bench: no %q: the Rust SDK is left out\n", s.rust)
			rust = nil
		}
		work := "send"
		if polling {
			work = "poll"
		}
		return group{
			title:      fmt.Sprintf("iggy: %s messages of %d bytes, %d in a request", work, s.size, iggyBatch),
			n:          1_000_000,
			unit:       "messages/s",
			want:       func(n int) int64 { return int64(n) },
			contenders: append(rust, ours...),
			end:        server.stop,
		}, nil
	}
}

// iggyServer is a server in a process of its own.
type iggyServer struct {
	cmd    *exec.Cmd
	folder string
	urls   map[string]string // by protocol
}

var greeted = regexp.MustCompile(`iggy\+(tcp|quic|ws)://\S+`)

func startIggy() (*iggyServer, error) {
	folder, err := os.MkdirTemp("", "runnel-bench-*")
	if err != nil {
		return nil, err
	}
	s := &iggyServer{folder: folder, urls: map[string]string{}}
	program := filepath.Join(folder, "runnel")
	build := exec.Command("go", "build", "-o", program, "github.com/runnel-go/runnel/cmd/runnel")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the server: %w", err), s.stop())
	}
	s.cmd = exec.Command(program, "iggy", "serve", "--tcp", "127.0.0.1:0", "--quic", "127.0.0.1:0", "--ws", "127.0.0.1:0")
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	for lines := bufio.NewScanner(out); len(s.urls) < 3 && lines.Scan(); {
		if found := greeted.FindStringSubmatch(lines.Text()); found != nil {
			s.urls[found[1]] = found[0]
		}
	}
	if len(s.urls) < 3 {
		return nil, errors.Join(errors.New("the server did not say where it listens"), s.stop())
	}
	return s, nil
}

func (s *iggyServer) stop() error {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill() // it keeps nothing
		_ = s.cmd.Wait()         // killed
	}
	return os.RemoveAll(s.folder)
}

// rustIggy is the SDK in Rust: a process that connects, sends, polls and says how fast both were.
type rustIggy struct {
	label, program, url string
	what                string // of its program: requests, direct, background, single, group
	size                int
	polling             bool // whether the speed of polling counts
}

func (r rustIggy) name() string { return r.label }
func (r rustIggy) share() int   { return 1 }

func (r rustIggy) run(ctx context.Context, n int) (outcome, error) {
	cmd := exec.CommandContext(ctx, r.program, "bench", "--url", r.url, "--name", "bench-rust", "--what", r.what,
		"--messages", strconv.Itoa(n), "--size", strconv.Itoa(r.size), "--batch", strconv.Itoa(iggyBatch))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return outcome{}, err
	}
	var speeds struct {
		Messages   int64
		Send, Poll float64
	}
	if err := json.Unmarshal(said, &speeds); err != nil {
		return outcome{}, err
	}
	rate := speeds.Send
	if r.polling {
		rate = speeds.Poll
	}
	// The processor time is that of both, and the start: it is an upper bound.
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return outcome{count: speeds.Messages, took: time.Duration(float64(n) / rate * float64(time.Second)), cpu: used}, nil
}

// The stream and the topic of Runnel's contenders.
var benchStream, benchTopic = wire.Named("bench-runnel"), wire.Named("messages")

// iggyTopic connects a client and makes the stream and the topic. remove undoes both.
func iggyTopic(ctx context.Context, url string, partitions uint32) (c *client.Client, remove func() error, err error) {
	if c, err = dial.Client(url); err != nil {
		return nil, nil, err
	}
	if err := c.Connect(ctx); err != nil {
		return nil, nil, err
	}
	remove = func() error { return errors.Join(c.DeleteStream(ctx, benchStream), c.Shutdown(ctx)) }
	if _, err := c.CreateStream(ctx, benchStream.Name, client.StreamOptions{}); err != nil {
		return nil, nil, errors.Join(err, c.Shutdown(ctx))
	}
	if _, err := c.CreateTopic(ctx, benchStream, benchTopic.Name, partitions, client.TopicOptions{}); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return c, remove, nil
}

// runnelIggy is Runnel's own client.
type runnelIggy struct {
	label, url string
	size       int
	polling    bool
}

func (r runnelIggy) name() string { return r.label }
func (r runnelIggy) share() int   { return 1 }

func (r runnelIggy) run(ctx context.Context, n int) (_ outcome, err error) {
	c, remove, err := iggyTopic(ctx, r.url, 1)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	at := client.Partition{Stream: benchStream, Topic: benchTopic}
	begin, used := time.Now(), cpuTime()
	if err := r.send(ctx, c, at, n); err != nil {
		return outcome{}, err
	}
	count := int64(n)
	if r.polling {
		begin, used = time.Now(), cpuTime()
		if count, err = poll(ctx, c, at, n); err != nil {
			return outcome{}, err
		}
	}
	return outcome{count: count, took: time.Since(begin), cpu: cpuTime() - used}, nil
}

func (r runnelIggy) send(ctx context.Context, c *client.Client, to client.Partition, n int) error {
	messages := make([]wire.Message, iggyBatch)
	for i := range messages {
		messages[i].Payload = make([]byte, r.size)
	}
	for ; n > 0; n -= iggyBatch {
		if _, _, err := c.Send(ctx, to, nil, messages[:min(n, iggyBatch)]); err != nil {
			return err
		}
	}
	return nil
}

// poll reads n messages and looks at each.
func poll(ctx context.Context, c *client.Client, at client.Partition, n int) (count int64, err error) {
	who := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.ID(1)}
	read := client.Read{Count: iggyBatch, MaxBytes: 16 << 20, Into: &client.Buffer{}} // a message is looked at and not kept
	for count < int64(n) {
		polled, err := c.Poll(ctx, who, at, wire.PollingStrategy{Kind: wire.FromOffset, Value: uint64(count)}, wire.PartitionContext{}, read)
		if err != nil {
			return count, err
		}
		records, before := wire.NewRecords(polled.Records), count
		for records.Next() {
			if len(records.Message().Payload) > 0 {
				count++
			}
		}
		if err := records.Err(); err != nil || count == before {
			return count, errors.Join(err, fmt.Errorf("stopped at %d", count))
		}
	}
	return count, nil
}
