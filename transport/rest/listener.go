package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"golang.org/x/net/netutil"

	"github.com/runnel-go/runnel/internal/wallclock"
	"github.com/runnel-go/runnel/transport"
)

// maxRequestHeader is the length of the URL and the headers of a request.
const maxRequestHeader = 32 << 10

// Listener serves clients over HTTP until it is closed.
type Listener struct {
	addr   string
	server *http.Server
	stop   context.CancelFunc // ends requests that wait
	tasks  sync.WaitGroup     // the server, and the requests at work

	mu     sync.Mutex
	closed bool // guarded by mu; no request begins after it
}

func newListenConfig(options []ListenOption) listenConfig {
	c := listenConfig{maxConnections: DefaultMaxConnections, clock: wallclock.Clock{}}
	for _, o := range options {
		o.applyListen(&c)
	}
	return c
}

// Listen serves clients at an address such as 127.0.0.1:3000; port 0 lets the system choose one. The end of ctx is not
// that of the listener.
func Listen(ctx context.Context, addr string, backend Backend, options ...ListenOption) (*Listener, error) {
	l := &Listener{}
	if err := l.listen(ctx, addr, backend, options); err != nil {
		return nil, &transport.Error{Op: "listen", Addr: addr, Err: err}
	}
	return l, nil
}

func (l *Listener) listen(ctx context.Context, addr string, backend Backend, options []ListenOption) error {
	handler, err := NewHandler(backend, options...)
	if err != nil {
		return err
	}
	config := &handler.config
	if config.maxConnections < 1 {
		return fmt.Errorf("MaxConnections is %d, not above 0", config.maxConnections)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	l.addr = listener.Addr().String()
	listener = netutil.LimitListener(listener, config.maxConnections)
	if config.tls != nil {
		listener = tls.NewListener(listener, config.tls)
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.server = &http.Server{
		Handler:           l.counting(handler),
		ReadHeaderTimeout: config.limits.FrameTimeout,
		IdleTimeout:       config.limits.IdleTimeout,
		MaxHeaderBytes:    maxRequestHeader,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // faults of strangers
	}
	l.tasks.Go(func() { _ = l.server.Serve(listener) }) // it returns when it is closed
	return nil
}

// counting lets Close wait for requests at work.
func (l *Listener) counting(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return
		}
		l.tasks.Add(1)
		l.mu.Unlock()
		defer l.tasks.Done()
		handler.ServeHTTP(w, r)
	})
}

// Addr is the address with its port.
func (l *Listener) Addr() string { return l.addr }

// Close ends every connection and every request that waits, frees the address, and returns when nothing of it is left. It
// may be called more than once.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.stop()
	err := l.server.Close()
	l.tasks.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return &transport.Error{Op: "close", Addr: l.addr, Err: err}
	}
	return nil
}
