package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// How the program tells a process that it is a member of the group: what is in the environment is not seen by others.
const (
	memberVar  = "RUNNEL_EXAMPLE_STREAM"
	addressVar = "RUNNEL_EXAMPLE_IGGY"
)

// process is a member in a process of its own.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan error
}

func (w *world) startMember(ctx context.Context) (*process, error) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), memberVar+"="+w.stream, addressVar+"="+w.address)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, ended: make(chan error, 1)}
	go func() { p.ended <- cmd.Wait() }()
	return p, nil
}

// copyLate runs two members, kills one half-way, and stops the other one when everything is copied.
func (w *world) copyLate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	victim, err := w.startMember(ctx)
	if err != nil {
		return err
	}
	heir, err := w.startMember(ctx)
	if err != nil {
		return err
	}
	if err := w.await(ctx, w.produced/2, victim, heir); err != nil {
		return err
	}
	time.Sleep(checkpointEvery / 2) // between two checkpoints, so that there is something to copy again
	if err := victim.cmd.Process.Kill(); err != nil {
		return err
	}
	<-victim.ended // killed
	if err := w.await(ctx, w.produced, heir); err != nil {
		return err
	}
	if err := heir.stdin.Close(); err != nil {
		return err
	}
	return <-heir.ended
}

// await waits until the group has committed so many flights.
func (w *world) await(ctx context.Context, want int, members ...*process) error {
	for {
		for _, m := range members {
			select {
			case err := <-m.ended:
				return fmt.Errorf("a member has ended: %w", errors.Join(err, ctx.Err()))
			case <-time.After(20 * time.Millisecond):
			}
		}
		done, err := w.committed(ctx)
		if err != nil || done >= want {
			return err
		}
	}
}

// committed is how many flights the offsets of the group cover.
func (w *world) committed(ctx context.Context) (done int, err error) {
	reader := wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named(groupName)}
	for id := range uint32(allPartitions) {
		of := client.Partition{Stream: wire.Named(w.stream), Topic: wire.Named(allTopic), ID: id}
		offset, found, err := w.client.GetOffset(ctx, reader, of)
		switch {
		case client.NotFound(err): // no member is there yet
		case err != nil:
			return 0, err
		case found:
			done += int(offset.Stored) + 1
		}
	}
	return done, nil
}
