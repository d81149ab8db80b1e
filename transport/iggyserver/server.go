package iggyserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/wire"
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	config   config
	broker   *broker.Broker
	release  func() error // closes the broker and what it is on
	services []service
	faults   Faults

	stop  context.CancelFunc
	tasks sync.WaitGroup
	ended chan struct{}
	err   error // set before ended is closed
}

// Start starts a server. It runs until ctx ends or [Server.Close] is called. The error names everything that is wrong
// with the options; an address that cannot be listened at is a [*ListenError]. Nothing is left open behind an error.
func Start(ctx context.Context, options ...Option) (*Server, error) {
	s, err := start(ctx, newConfig(options))
	if err != nil {
		return nil, fmt.Errorf("iggy server: %w", err)
	}
	return s, nil
}

func start(ctx context.Context, c config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	b, release, err := c.openBroker()
	if err != nil {
		return nil, err
	}
	if err := c.meetRoot(b); err != nil {
		return nil, errors.Join(err, release())
	}
	s := &Server{config: c, broker: b, release: release, ended: make(chan struct{})}
	s.faults.broker, s.faults.next = b, c.handle
	if err := s.listen(ctx); err != nil {
		return nil, errors.Join(err, release())
	}
	b.SetNode(s.node())
	ctx, s.stop = context.WithCancel(ctx)
	s.tasks.Go(func() { _ = b.Run(ctx) }) // it only ends
	for _, service := range s.services {
		s.tasks.Go(func() { service.run(ctx) })
	}
	go s.finish(ctx)
	return s, nil
}

// finish ends everything when ctx does: first those who ask, then who answers.
func (s *Server) finish(ctx context.Context) {
	defer close(s.ended)
	<-ctx.Done()
	var faults []error
	for _, service := range s.services {
		faults = append(faults, service.close())
	}
	s.tasks.Wait()
	s.err = errors.Join(append(faults, s.release())...)
}

// Close ends every connection and every wait, frees the addresses, and returns when nothing of the server is left, as
// [Server.Wait] does. It may be called more than once.
func (s *Server) Close() error {
	s.stop()
	return s.Wait()
}

// Wait returns when the server has ended, by [Server.Close] or the context of [Start], with what went wrong then; nil if
// nothing did.
func (s *Server) Wait() error {
	<-s.ended
	return s.err
}

// String names the server by its addresses.
func (s *Server) String() string {
	text := "iggy server"
	for _, service := range s.services {
		text += fmt.Sprintf(" %s://%s", service.protocol, service.addr)
	}
	return text
}

// Format prints String for every verb: what else there is holds the password, and changes meanwhile.
func (s *Server) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Addr returns the address of a protocol with its port, such as 127.0.0.1:8090. It is empty if the server does not listen
// so.
func (s *Server) Addr(protocol dial.Protocol) string {
	for _, service := range s.services {
		if service.protocol == protocol {
			return service.addr
		}
	}
	return ""
}

// ConnectionString returns what package dial reads, with the password of the root user, such as
// iggy+tcp://iggy:iggy@127.0.0.1:8090. If the server listens at all addresses it names that of the machine itself. It is
// empty if the server does not listen so. In a folder that was in use the user is who it was, and <password> stands in place
// of a password that is another one than [Password] says.
func (s *Server) ConnectionString(protocol dial.Protocol) string {
	addr := s.Addr(protocol)
	if addr == "" {
		return ""
	}
	text := connectionString(protocol, s.config.username, s.config.password, reachable(addr))
	if s.config.tls && protocol != dial.QUIC && protocol != dial.HTTP {
		text += "?tls=true"
	}
	return text
}

func connectionString(protocol dial.Protocol, username, password, addr string) string {
	return fmt.Sprintf("iggy+%s://%s:%s@%s", protocol, username, password, addr)
}

// reachable returns the address itself, or 127.0.0.1 in place of one that stands for all: a listener at all addresses of
// IPv6 takes those of IPv4 too.
func reachable(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsUnspecified() {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(at.Port())))
}

// node is what the roster says of the server.
func (s *Server) node() wire.ClusterNode {
	node := wire.ClusterNode{Name: "runnel", Host: "127.0.0.1"}
	ports := map[dial.Protocol]*uint16{
		dial.TCP: &node.TCP, dial.QUIC: &node.QUIC, dial.WebSocket: &node.WebSocket, dial.HTTP: &node.HTTP,
	}
	for i, service := range s.services {
		at, err := netip.ParseAddrPort(reachable(service.addr))
		if err != nil {
			continue
		}
		if i == 0 {
			node.Host = at.Addr().String()
		}
		*ports[service.protocol] = at.Port()
	}
	return node
}
