package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// A user who may only read messages of one stream makes a token, and a program logs in with it.
func ExampleClient_CreateUser() {
	withServer(makeReader)
	// Output:
	// logged in with a token
	// may create a stream: false
}

func makeReader(ctx context.Context, _ *iggyserver.Server, c *client.Client) error {
	shop, err := c.CreateStream(ctx, "shop", client.StreamOptions{})
	if err != nil {
		return err
	}
	mayRead := &wire.Permissions{Streams: []wire.StreamPermissions{
		{StreamID: shop.Stream.ID, ReadStream: true, ReadTopics: true, PollMessages: true},
	}}
	if _, err := c.CreateUser(ctx, "reader", "a long secret", wire.UserActive, mayRead); err != nil {
		return err
	}

	if err := c.Login(ctx, "reader", "a long secret"); err != nil { // in place of root
		return err
	}
	token, err := c.CreatePersonalAccessToken(ctx, "nightly", 24*time.Hour)
	if err != nil {
		return err
	}
	if err := c.LoginWithToken(ctx, token.Reveal()); err != nil {
		return err
	}
	fmt.Println("logged in with a token")
	_, err = c.CreateStream(ctx, "mine", client.StreamOptions{})
	fmt.Println("may create a stream:", !errors.Is(err, wire.CodeUnauthorized))
	return nil
}

// A raw request has a payload that the caller has encoded, and gets the payload of the reply.
func ExampleClient_SendBinaryRequest() {
	withServer(askRaw)
	// Output:
	// streams: 1
	// over HTTP: 404
}

func askRaw(ctx context.Context, server *iggyserver.Server, c *client.Client) error {
	if _, err := c.CreateStream(ctx, "shop", client.StreamOptions{}); err != nil {
		return err
	}
	reply, err := c.SendBinaryRequest(ctx, wire.CmdGetStreams, nil)
	if err != nil {
		return err
	}
	streams, err := wire.Decode[wire.Streams](reply)
	if err != nil {
		return err
	}
	fmt.Println("streams:", len(streams.Streams))

	overHTTP, err := dial.Client(server.ConnectionString(dial.HTTP))
	if err != nil {
		return err
	}
	if err := overHTTP.SignIn(ctx); err != nil {
		return err
	}
	defer func() { _ = overHTTP.Shutdown(ctx) }()
	status, _, err := overHTTP.SendHTTPRequest(ctx, "GET", "/streams/other", nil)
	if err != nil {
		return err
	}
	fmt.Println("over HTTP:", status)
	return nil
}
