package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

// Where the server listens if no flag says so: the ports of Iggy.
const (
	defaultTCP       = "127.0.0.1:8090"
	defaultQUIC      = "127.0.0.1:8080"
	defaultWebSocket = "127.0.0.1:8092"
	defaultHTTP      = "127.0.0.1:3000"
)

func iggyCommand() *command {
	return &command{
		name:  "iggy",
		short: "Run a server that speaks the protocol of Apache Iggy.",
		sub: []*command{{
			name:  "serve",
			args:  "[--tcp ADDR] [--quic ADDR] [--ws ADDR] [--http ADDR] [--username U --password P] [--allow-remote]",
			short: "Run the server until it is interrupted.",
			long: "It is one node, which keeps everything in memory: what it was told is gone when it ends. Without a flag\n" +
				"for an address it listens at " + defaultTCP + " (TCP), " + defaultQUIC + " (QUIC), " + defaultWebSocket + "\n" +
				"(WebSocket) and " + defaultHTTP + " (HTTP), and else only where the flags say. Port 0 lets the system\n" +
				"choose.",
			setup: setupServe,
		}},
	}
}

// serveFlags are the flags of the command.
type serveFlags struct {
	at                 []iggyserver.Option
	username, password string
	allowRemote        bool
}

func setupServe(flags *flag.FlagSet) action {
	f := &serveFlags{}
	at := func(name, protocol string, option func(string) iggyserver.Option) {
		flags.Func(name, "address for "+protocol, func(addr string) error {
			f.at = append(f.at, option(addr))
			return nil
		})
	}
	at("tcp", "TCP", iggyserver.TCP)
	at("quic", "QUIC", iggyserver.QUIC)
	at("ws", "WebSocket", iggyserver.WebSocket)
	at("http", "HTTP", iggyserver.HTTP)
	flags.StringVar(&f.username, "username", iggyserver.DefaultUsername, "name of the root user, iggy if not given")
	flags.StringVar(&f.password, "password", iggyserver.DefaultPassword, "password of the root user, iggy if not given")
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "listen also where other machines reach it; needs a password of your own")
	return f.serve
}

// options returns what the flags ask for.
func (f *serveFlags) options() []iggyserver.Option {
	options := append([]iggyserver.Option{iggyserver.Username(f.username), iggyserver.Password(f.password)}, f.at...)
	if len(f.at) == 0 {
		options = append(options, iggyserver.TCP(defaultTCP), iggyserver.QUIC(defaultQUIC), iggyserver.WebSocket(defaultWebSocket),
			iggyserver.HTTP(defaultHTTP))
	}
	if f.allowRemote {
		options = append(options, iggyserver.AllowRemote())
	}
	return options
}

// serve runs the server. A second signal ends the process at once.
func (f *serveFlags) serve(ctx context.Context, c console, args []string) error {
	if len(args) > 0 {
		return &usageError{"takes no argument"}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(c.err, nil))
	server, err := iggyserver.Start(ctx, append(f.options(), iggyserver.Logger(logger))...)
	if err != nil {
		return explain(err)
	}
	_, err = c.out.Write([]byte(f.greeting(server)))
	if err != nil {
		return errors.Join(err, server.Close())
	}
	<-ctx.Done()
	stop()
	return server.Wait()
}

// greeting says what to connect to. A password that not everybody knows stays out of terminals and logs.
func (f *serveFlags) greeting(server *iggyserver.Server) string {
	text := &strings.Builder{}
	fmt.Fprintln(text, "Iggy server, in memory. Connect to")
	for _, protocol := range []dial.Protocol{dial.TCP, dial.QUIC, dial.WebSocket, dial.HTTP} {
		address := server.ConnectionString(protocol)
		if address == "" {
			continue
		}
		if f.password != iggyserver.DefaultPassword {
			address = strings.Replace(address, ":"+f.password+"@", ":<password>@", 1)
		}
		fmt.Fprintln(text, " ", address)
	}
	fmt.Fprintln(text, "Stop it with Ctrl-C.")
	return text.String()
}

// explain names the flag that an error is about.
func explain(err error) error {
	var at *iggyserver.ListenError
	if errors.Is(err, iggyserver.ErrDefaultPassword) {
		return &usageError{fmt.Sprintf("--allow-remote: %v (--password)", iggyserver.ErrDefaultPassword)}
	}
	if !errors.As(err, &at) {
		return err
	}
	if errors.Is(err, iggyserver.ErrRemote) {
		return &usageError{fmt.Sprintf("--%s: %v (--allow-remote)", at.Protocol, at.Err)}
	}
	return fmt.Errorf("--%s: %w", at.Protocol, at.Err)
}
