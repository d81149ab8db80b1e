package iggyserver_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
	"github.com/runnel-go/runnel/transport/wire"
)

// A server in process, and a client that reads its connection string.
func Example() {
	ctx := context.Background()
	server, err := iggyserver.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	address := server.ConnectionString(dial.QUIC)
	fmt.Println(strings.TrimRight(address, "0123456789"))
	config, err := dial.Parse(address)
	if err != nil {
		fmt.Println(err)
		return
	}
	dialer, err := config.Dialer()
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := dialer.Dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()

	ping := wire.NewRequest(wire.CmdPing)
	ping.Client = wire.Uint128{Lo: 1}
	frame, err := wire.AppendRequest(nil, ping, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := conn.Do(ctx, frame)
	fmt.Println(len(reply), err)
	// Output:
	// iggy+quic://iggy:iggy@127.0.0.1:
	// 256 <nil>
}

// The third message is stored, and the reply to it is lost: what a client makes of that is to be tested.
func ExampleFaults() {
	server, err := iggyserver.Start(context.Background(), iggyserver.TCP("127.0.0.1:0"), iggyserver.PasswordRounds(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	lost := server.Faults().CloseAfter(wire.CmdSendMessages, 3)
	// … the client sends …
	select {
	case <-lost:
		fmt.Println("the connection was closed")
	default:
		fmt.Println("not yet")
	}
	// Output: not yet
}
