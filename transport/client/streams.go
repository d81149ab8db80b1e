package client

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// StreamOptions are settings of a new stream. The zero value leaves all of them to the server.
type StreamOptions struct {
	// EncryptionKey are 32 bytes that the server encrypts what it stores with; empty for none. A server that cannot do so
	// answers [wire.CodeStreamEncryptionUnavailable].
	EncryptionKey transport.Secret
	// Others are options that this type does not have, by their names: see [Client.DescribeOptions].
	Others wire.Options
}

func (o *StreamOptions) wire() (wire.Options, *fault) {
	options := append(wire.Options(nil), o.Others...)
	if key := o.EncryptionKey.Reveal(); key != "" {
		if len(key) != 32 {
			return nil, &fault{wire.CodeInvalidOptionValue, fmt.Sprintf("the encryption key has %d bytes, not 32", len(key))}
		}
		options = append(options, wire.Option{Key: wire.OptionEncryptionKey, Value: wire.RawValue([]byte(key))})
	}
	return options, checkOptions(options)
}

// GetStream returns a stream with its topics. If there is none the error is [wire.CodeStreamIDNotFound].
func (c *Client) GetStream(ctx context.Context, stream wire.Identifier) (wire.StreamDetails, error) {
	const command = wire.CmdGetStream
	if err := check(command, checkID("stream", stream)); err != nil {
		return wire.StreamDetails{}, err
	}
	return callOne[wire.StreamDetails](ctx, c, command, &wire.GetStream{Stream: stream}, wire.CodeStreamIDNotFound)
}

// GetStreams returns all streams, without their topics.
func (c *Client) GetStreams(ctx context.Context) ([]wire.Stream, error) {
	r, err := call[wire.Streams](ctx, c, wire.CmdGetStreams, nil)
	return r.Streams, err
}

// CreateStream makes a stream with a name of 1 to 255 bytes, and returns it. If the name is taken the error is
// [wire.CodeStreamNameAlreadyExists].
func (c *Client) CreateStream(ctx context.Context, name string, options StreamOptions) (wire.StreamDetails, error) {
	const command = wire.CmdCreateStream
	set, wrong := options.wire()
	if err := check(command, checkStreamName(name), wrong); err != nil {
		return wire.StreamDetails{}, err
	}
	return call[wire.StreamDetails](ctx, c, command, &wire.CreateStream{Name: name, Options: set})
}

// StreamUpdate is what [Client.UpdateStream] changes: what is set.
type StreamUpdate struct {
	// Name is the new name, 1 to 255 bytes; empty to leave it.
	Name string
	// Set are options that get a value.
	Set wire.Options
	// Reset are options that get back their default, at most 255.
	Reset []string
}

// UpdateStream changes a stream. There has to be something to change. If there is no such stream the error is
// [wire.CodeStreamIDNotFound] or [wire.CodeStreamNameNotFound]. An option that cannot be changed is
// [wire.CodeOptionNotUpdatable] or [wire.CodeOptionNotResettable].
func (c *Client) UpdateStream(ctx context.Context, stream wire.Identifier, update StreamUpdate) error {
	body := &wire.UpdateResource{Scope: wire.ScopeStream, Stream: stream, Reset: update.Reset}
	body.Set = append(body.Set, update.Set...)
	faults := []*fault{checkID("stream", stream)}
	if update.Name != "" {
		faults = append(faults, checkStreamName(update.Name))
		body.Set = append(body.Set, wire.Option{Key: wire.OptionName, Value: wire.StringValue(update.Name)})
	}
	return c.update(ctx, body, append(faults, checkUpdate(body))...)
}

// DeleteStream deletes a stream with all that is in it. If there is none the error is [wire.CodeStreamIDNotFound] or
// [wire.CodeStreamNameNotFound].
func (c *Client) DeleteStream(ctx context.Context, stream wire.Identifier) error {
	return c.do(ctx, wire.CmdDeleteStream, &wire.DeleteStream{Stream: stream}, checkID("stream", stream))
}

func checkStreamName(name string) *fault {
	return checkName(wire.CodeInvalidStreamName, "the name of the stream", name)
}
