package iggyserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/quic"
	"github.com/runnel-go/runnel/transport/tcp"
	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/ws"
)

// ListenError says which protocol an address is refused for.
type ListenError struct {
	// Protocol is how the server was to listen.
	Protocol dial.Protocol
	// Err is why it does not: [ErrRemote], or an error of the system.
	Err error
}

// Error names the protocol and the cause.
func (e *ListenError) Error() string { return fmt.Sprintf("%s: %v", e.Protocol, e.Err) }

// Unwrap returns the cause.
func (e *ListenError) Unwrap() error { return e.Err }

// service is what serves one protocol.
type service struct {
	protocol dial.Protocol
	addr     string // with the port
	// run serves until ctx ends, and returns when nothing of it is left.
	run func(ctx context.Context)
	// close frees the address. It may be called while run is at work.
	close func() error
}

// listen opens all places, or none.
func (s *Server) listen(ctx context.Context) error {
	tlsConfig, err := s.config.tlsConfig()
	if err != nil {
		return err
	}
	for _, at := range s.config.at {
		service, err := s.open(ctx, at, tlsConfig)
		if err != nil {
			err = &ListenError{Protocol: at.protocol, Err: err}
			for _, earlier := range s.services {
				err = errors.Join(err, earlier.close())
			}
			return err
		}
		s.services = append(s.services, service)
	}
	return nil
}

// tlsConfig returns the certificate in the form that listeners want.
func (c *config) tlsConfig() (*tls.Config, error) {
	certificate := c.certificate
	if certificate == nil {
		made, err := transport.SelfSigned("localhost", "127.0.0.1", "::1")
		if err != nil {
			return nil, err
		}
		certificate = &made
	}
	return &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}, nil
}

// transportOf returns the number that a protocol has in replies.
func transportOf(protocol dial.Protocol) wire.Transport {
	switch protocol {
	case dial.TCP:
		return wire.TransportTCP
	case dial.WebSocket:
		return wire.TransportWebSocket
	default:
		return wire.TransportQUIC
	}
}

// open begins to listen at one place. What serves a protocol in another way than by frames is begun here too.
func (s *Server) open(ctx context.Context, at place, tlsConfig *tls.Config) (service, error) {
	if at.protocol == dial.HTTP {
		return s.openHTTP(ctx, at, tlsConfig)
	}
	listener, err := s.frames(ctx, at, tlsConfig)
	if err != nil {
		return service{}, err
	}
	return service{
		protocol: at.protocol,
		addr:     listener.Addr(),
		run:      s.intake(listener, transportOf(at.protocol)).run,
		close:    listener.Close,
	}, nil
}

// frames begins to listen for frames.
func (s *Server) frames(ctx context.Context, at place, tlsConfig *tls.Config) (transport.Listener, error) {
	switch at.protocol {
	case dial.TCP:
		options := []tcp.ListenOption{tcp.Limits(s.config.limits), tcp.Wrap(s.faults.wrap)}
		if s.config.tls {
			options = append(options, tcp.ServeTLS(tlsConfig))
		}
		return tcp.Listen(ctx, at.addr, options...)
	case dial.WebSocket:
		options := []ws.ListenOption{
			ws.Limits(s.config.limits), ws.Wrap(s.faults.wrap), ws.MaxHandshakes(s.config.maxConnections),
		}
		if s.config.tls {
			options = append(options, ws.ServeTLS(tlsConfig))
		}
		return ws.Listen(ctx, at.addr, options...)
	default:
		return quic.Listen(at.addr, quic.Limits(s.config.limits), quic.ServeTLS(tlsConfig))
	}
}
