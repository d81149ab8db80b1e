package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

// serveFlags are the flags of the command.
type serveFlags struct {
	at                 []iggyserver.Option
	username, password string
	allowRemote        bool
	passwordFile       string
	data               string
	fsync              iggyserver.Option
	tlsCert, tlsKey    string
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
	flags.StringVar(&f.passwordFile, "password-file", "", "file whose first line is that password, as a flag can be seen by others on the machine")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "file with the certificate in PEM form: clients have to use TLS, and can verify it; needs --tls-key")
	flags.StringVar(&f.tlsKey, "tls-key", "", "file with the key of the certificate in PEM form")
	flags.StringVar(&f.data, "data", "", "folder to keep everything in; memory if not given")
	flags.Func("fsync", "when what is in the folder is made durable: never, always, or an interval such as 1s; never if not given", f.setFsync)
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "listen also where other machines reach it; needs a password of your own")
	return f.serve
}

// setFsync reads the flag.
func (f *serveFlags) setFsync(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case text == "never":
		f.fsync = nil
	case text == "always":
		f.fsync = iggyserver.FsyncAlways()
	case err != nil || d < time.Millisecond:
		return errors.New("it is never, always, or an interval of at least 1ms such as 1s")
	default:
		f.fsync = iggyserver.FsyncEvery(d)
	}
	return nil
}

// options returns what the flags ask for.
func (f *serveFlags) options() []iggyserver.Option {
	options := append([]iggyserver.Option{iggyserver.Username(f.username), iggyserver.Password(f.password)}, f.at...)
	if len(f.at) == 0 {
		options = append(options, iggyserver.TCP(defaultTCP), iggyserver.QUIC(defaultQUIC), iggyserver.WebSocket(defaultWebSocket),
			iggyserver.HTTP(defaultHTTP))
	}
	if f.data != "" {
		options = append(options, iggyserver.Data(f.data))
	}
	if f.fsync != nil {
		options = append(options, f.fsync)
	}
	if f.allowRemote {
		options = append(options, iggyserver.AllowRemote())
	}
	return options
}

// readPassword takes the password from its file, if there is one.
func (f *serveFlags) readPassword() error {
	if f.passwordFile == "" {
		return nil
	}
	if f.password != iggyserver.DefaultPassword {
		return &usageError{"--password and --password-file: one of them"}
	}
	text, err := os.ReadFile(f.passwordFile)
	if err != nil {
		return fmt.Errorf("--password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f.password = strings.TrimSuffix(line, "\r")
	if f.password == "" {
		return fmt.Errorf("--password-file: the first line of %s is empty", f.passwordFile)
	}
	return nil
}

// certificate returns what makes clients use TLS, if that is asked for.
func (f *serveFlags) certificate() ([]iggyserver.Option, error) {
	if f.tlsCert == "" && f.tlsKey == "" {
		return nil, nil
	}
	if f.tlsCert == "" || f.tlsKey == "" {
		return nil, &usageError{"--tls-cert and --tls-key: one needs the other"}
	}
	pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return []iggyserver.Option{iggyserver.Certificate(pair), iggyserver.ServeTLS()}, nil
}

// serve runs the server. A second signal ends the process at once.
func (f *serveFlags) serve(ctx context.Context, c console, args []string) error {
	if len(args) > 0 {
		return &usageError{"takes no argument"}
	}
	if f.fsync != nil && f.data == "" {
		return &usageError{"--fsync needs a folder (--data)"}
	}
	if err := f.readPassword(); err != nil {
		return err
	}
	secure, err := f.certificate()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(c.err, nil))
	server, err := iggyserver.Start(ctx, append(append(f.options(), secure...), iggyserver.Logger(logger))...)
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
	where := "in memory"
	if f.data != "" {
		where = "in " + f.data
	}
	fmt.Fprintf(text, "Iggy server, %s. Connect to\n", where)
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
		return &usageError{fmt.Sprintf("--allow-remote: %v (--password, --password-file)", strings.TrimPrefix(err.Error(), "iggy server: "))}
	}
	if !errors.As(err, &at) {
		return err
	}
	if errors.Is(err, iggyserver.ErrRemote) {
		return &usageError{fmt.Sprintf("--%s: %v (--allow-remote)", at.Protocol, at.Err)}
	}
	return fmt.Errorf("--%s: %w", at.Protocol, at.Err)
}
