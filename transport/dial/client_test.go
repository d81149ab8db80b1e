package dial_test

import (
	"context"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestClientOfAString(t *testing.T) {
	t.Parallel()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1), iggyserver.Password("other"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	for _, protocol := range []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket, dial.HTTP} {
		c, err := dial.Client(server.ConnectionString(protocol))
		require.NoError(t, err)
		require.NoError(t, c.Connect(t.Context()), protocol)
		want := client.Authenticated
		if protocol == dial.HTTP { // the login is explicit there
			want = client.Connected
		}
		require.Equal(t, want, c.State(), protocol)
		require.NotContains(t, c.String(), "other")
		require.NoError(t, c.Shutdown(t.Context()))
	}
}

func TestClientLogsInWithTheTokenOfItsString(t *testing.T) {
	t.Parallel()
	server, err := iggyserver.Start(t.Context(), iggyserver.PasswordRounds(1))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	c, err := dial.Client("iggy://made-up@" + server.Addr(dial.TCP))
	require.NoError(t, err)
	require.ErrorIs(t, c.Connect(t.Context()), wire.CodeInvalidPersonalAccessToken)
	require.NoError(t, c.Shutdown(t.Context()))
}

func TestClientOfAStringTakesWhatItSaysOfReconnecting(t *testing.T) {
	t.Parallel()
	c, err := dial.Client("iggy://iggy:iggy@127.0.0.1:1?reconnection_retries=2&reconnection_interval=1ms&max_pending_operations=1")
	require.NoError(t, err)
	require.ErrorIs(t, c.Connect(t.Context()), wire.CodeCannotEstablishConnection)
	require.NoError(t, c.Shutdown(t.Context()))
}

func TestOptionsOfTheCallerComeBehindThoseOfTheString(t *testing.T) {
	t.Parallel()
	_, err := dial.Client("iggy://iggy:iggy@127.0.0.1:8090?heartbeat_interval=3s", client.Heartbeat(-time.Second))
	require.ErrorContains(t, err, "Heartbeat")
	_, err = dial.Client("iggy+tcp://127.0.0.1")
	var parse *dial.ParseError
	require.ErrorAs(t, err, &parse)
}

func TestConfigWrittenDownHasTheDefaultsOfTheClient(t *testing.T) {
	t.Parallel()
	c, err := dial.Config{Protocol: dial.TCP, Host: "127.0.0.1", Port: 8090}.Client()
	require.NoError(t, err)
	require.NoError(t, c.Shutdown(t.Context()))
}

// A client of a server in the same process. That of another process is reached in the same way.
func ExampleClient() {
	ctx := context.Background()
	server, err := iggyserver.Start(ctx)
	check(err)
	defer server.Close()

	c, err := dial.Client(server.ConnectionString(dial.TCP))
	check(err)
	check(c.Connect(ctx))
	defer func() { check(c.Shutdown(ctx)) }()
	_, err = c.CreateStream(ctx, "flights", client.StreamOptions{})
	check(err)
	_, err = c.CreateTopic(ctx, wire.Named("flights"), "late", 1, client.TopicOptions{})
	check(err)
	late := client.Partition{Stream: wire.Named("flights"), Topic: wire.Named("late")} // partition 0
	_, _, err = c.Send(ctx, late, nil, []wire.Message{{Payload: []byte("AA 11")}, {Payload: []byte("UA 93")}})
	check(err)

	reader := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("reader")}
	polled, err := c.Poll(ctx, reader, late, wire.PollingStrategy{Kind: wire.FromFirst}, wire.PartitionContext{}, client.Read{})
	check(err)
	for m, err := range c.Messages(polled.Records) {
		check(err)
		fmt.Printf("%d: %s\n", m.Offset, m.Payload)
	}
	// Output:
	// 0: AA 11
	// 1: UA 93
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
