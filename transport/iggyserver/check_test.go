package iggyserver_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

func TestAddressesThatOthersReachHaveToBeAllowed(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "127.9.9.9:0", "localhost:0", "[::ffff:127.0.0.1]:0"} {
		start(t, iggyserver.TCP(addr))
	}
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "server.example:0", "localhost.example:0"} {
		for name, option := range map[string]iggyserver.Option{
			"tcp": iggyserver.TCP(addr), "quic": iggyserver.QUIC(addr), "ws": iggyserver.WebSocket(addr),
		} {
			_, err := iggyserver.Start(t.Context(), option)
			require.ErrorIs(t, err, iggyserver.ErrRemote, addr)
			var at *iggyserver.ListenError
			require.ErrorAs(t, err, &at)
			require.EqualValues(t, name, at.Protocol)
			_, err = iggyserver.Start(t.Context(), option, iggyserver.AllowRemote())
			require.ErrorIs(t, err, iggyserver.ErrDefaultPassword, addr)
		}
	}
}

func TestServerOfAllAddressesIsReachedAtThatOfTheMachine(t *testing.T) {
	t.Parallel()
	server := start(t, iggyserver.TCP("0.0.0.0:0"), iggyserver.AllowRemote(), iggyserver.Username("root"), iggyserver.Password("secret"))
	_, port, err := net.SplitHostPort(server.Addr(dial.TCP))
	require.NoError(t, err)
	require.Equal(t, "iggy+tcp://root:secret@127.0.0.1:"+port, server.ConnectionString(dial.TCP))
	require.Empty(t, server.ConnectionString(dial.QUIC))
}

func TestAllFaultsOfTheOptionsAreNamed(t *testing.T) {
	t.Parallel()
	_, err := iggyserver.Start(t.Context(), iggyserver.TCP("127.0.0.1"), iggyserver.QUIC("192.0.2.1:0"),
		iggyserver.Limits(transport.Limits{MaxInFlight: -1}), iggyserver.MaxConnections(0), iggyserver.Heartbeat(-1), iggyserver.RejoinGrace(-1),
		iggyserver.PasswordRounds(0), iggyserver.Logger(nil), iggyserver.Password("sec@ret"))
	for _, part := range []string{
		"iggy server: ", "tcp: address 127.0.0.1: missing port", "quic: 192.0.2.1:0: other machines", "MaxInFlight is -1",
		"MaxConnections is 0", "Heartbeat is -1ns", "RejoinGrace is -1ns", "PasswordRounds is 0", "Logger is nil", "credentials: there is one @",
	} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "sec@ret")
}

func TestPortInUseNamesItsProtocolAndLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	used := start(t)
	for _, p := range protocols {
		options := []iggyserver.Option{
			iggyserver.PasswordRounds(1), iggyserver.TCP("127.0.0.1:0"), iggyserver.QUIC("127.0.0.1:0"), iggyserver.WebSocket("127.0.0.1:0"),
		}
		switch addr := used.Addr(p); p {
		case dial.TCP:
			options = append(options, iggyserver.TCP(addr))
		case dial.QUIC:
			options = append(options, iggyserver.QUIC(addr))
		default:
			options = append(options, iggyserver.WebSocket(addr))
		}
		_, err := iggyserver.Start(t.Context(), options...)
		var at *iggyserver.ListenError
		require.ErrorAs(t, err, &at)
		require.Equal(t, p, at.Protocol)
		require.ErrorContains(t, err, "address already in use")
	}
}
