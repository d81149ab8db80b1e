package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// Pauses between the attempts of a request.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// busyLimit is how long a request is made again that the server cannot take as something is being made or removed.
const busyLimit = 30 * time.Second

// maxURL is the length of the longest path with its query. The longest that a command needs has less than half of it.
const maxURL = 8 << 10

// outgoing is a request that is to be made.
type outgoing struct {
	method string
	path   string // as it is sent, percent-encoded
	query  url.Values
	body   []byte // JSON, nil for none
	safe   bool   // it changes nothing, and may be repeated at will
	public bool   // it needs no login

	// Of a read that waits: how long, and how long the client waits for the answer. What has passed of it is left out of
	// each attempt. 0 for others.
	wait, timeout time.Duration
}

// answer is what a server says to a request.
type answer struct {
	status int
	body   []byte
	header http.Header
}

// exchange makes a request, again if that is without danger. A server that does not know the token any more makes the link
// log in once. The error is a [*fault]. (Iggy HTTP interface, retry rules.)
func (c *Conn) exchange(ctx context.Context, out *outgoing) (*answer, error) {
	began := c.config.clock.Now()
	renewed := false
	var last *answer
	var lastErr error
	for attempt := 0; ; {
		token := ""
		if !out.public {
			token = c.token(ctx)
		}
		got, err := c.attempt(ctx, out, token, c.config.clock.Now().Sub(began))
		if attempt > 0 && errors.Is(err, errTimeUp) {
			return last, lastErr
		}
		last, lastErr = got, err
		if err == nil && got.status == http.StatusUnauthorized && !out.public && !renewed {
			renewed = true
			ok, err := c.renew(ctx, token)
			if err != nil {
				return nil, &fault{unsent: !out.safe, err: err}
			}
			if ok {
				continue
			}
		}
		busy := err == nil && codeOf(got) == wire.CodeLifecycleBusy && c.config.clock.Now().Sub(began) < busyLimit
		if !busy && (attempt >= c.config.retries || !again(ctx, out, got, err)) {
			c.lose(err)
			return got, err
		}
		if err := c.pause(ctx, attempt, got); err != nil {
			return nil, &fault{unsent: !out.safe, err: err} // what came before changes nothing, or was not carried out
		}
		attempt++
	}
}

// lose ends the link if the error says that there is nobody to talk to.
func (c *Conn) lose(err error) {
	var f *fault
	if errors.As(err, &f) && f.nobody {
		c.end(f.err)
	}
}

// again says whether a request may be made again: it changes nothing, or surely was not carried out.
func again(ctx context.Context, out *outgoing, got *answer, err error) bool {
	switch {
	case ctx.Err() != nil || errors.Is(err, transport.ErrClosed) || final(err):
		return false
	case err != nil:
		return out.safe || unsent(err)
	case got.status == http.StatusServiceUnavailable:
		return true
	}
	return out.safe && got.status >= http.StatusInternalServerError
}

// final says whether an error is one that comes again.
func final(err error) bool {
	var size *transport.SizeError
	return errors.As(err, &size) || errors.Is(err, transport.ErrProtocol) || errors.Is(err, errTimeUp)
}

func unsent(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.unsent
}

// pause waits before the next attempt: as long as the server says, or twice as long as before.
func (c *Conn) pause(ctx context.Context, attempt int, got *answer) error {
	d := min(firstPause<<min(attempt, 16), longestPause)
	d = d/2 + rand.N(d/2) // not all clients at once
	if got != nil {
		if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err == nil && seconds >= 0 {
			d = min(time.Duration(min(seconds, 60))*time.Second, longestPause)
		}
	}
	elapsed, stop := c.config.clock.After(d)
	defer stop()
	select {
	case <-elapsed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ending.Done():
		return c.ending.Err()
	}
}

// errTimeUp is returned when a read that waits has no time left.
var errTimeUp = fmt.Errorf("%w: no time is left of what the read may take", context.DeadlineExceeded)

// url returns where a request goes after the client has waited for some time already.
func (c *Conn) url(out *outgoing, waited time.Duration) (string, error) {
	text := out.path
	if out.timeout > 0 {
		if waited >= out.timeout {
			return "", &fault{unsent: true, err: errTimeUp}
		}
		out.query.Set(keyWait, strconv.FormatInt(max(0, out.wait-waited).Microseconds(), 10))
		out.query.Set(keyTimeout, strconv.FormatInt(max(1, (out.timeout-waited).Microseconds()), 10))
	}
	if len(out.query) > 0 {
		text += "?" + out.query.Encode()
	}
	if len(text) > maxURL {
		return "", &fault{unsent: true, err: transport.NameLimit(&transport.SizeError{Size: uint32(len(text)), Limit: maxURL}, "the URL")}
	}
	return c.base + text, nil
}

// attempt makes a request once.
func (c *Conn) attempt(ctx context.Context, out *outgoing, token string, waited time.Duration) (*answer, error) {
	target, err := c.url(out, waited)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := &watch{cancel: cancel, limit: c.limits.FrameTimeout}
	defer watch.stop()
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, watch.trace()), out.method, target, bytes.NewReader(out.body))
	if err != nil {
		return nil, &fault{unsent: true, err: fmt.Errorf("%w: %s of that path", transport.ErrProtocol, out.method)}
	}
	request.Header.Set("User-Agent", "runnel")
	if out.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	end, err := c.begin(request, cancel)
	if err != nil {
		return nil, &fault{unsent: true, err: err}
	}
	defer end()
	got, err := c.send(request, watch)
	if err != nil {
		unsent := !watch.connected.Load()
		return nil, &fault{unsent: unsent, nobody: unsent && ctx.Err() == nil, err: reason(ctx, err)}
	}
	return got, nil
}

func (c *Conn) send(request *http.Request, watch *watch) (*answer, error) {
	response, err := c.client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the URL may hold what is not for logs
		}
		return nil, transport.Lost(err)
	}
	defer response.Body.Close()
	watch.begin()
	limit := bodyLimit(c.limits.MaxReplyBytes)
	if response.ContentLength > int64(limit) {
		return nil, tooLong(limit)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, transport.Lost(err)
	case len(body) > limit:
		return nil, tooLong(limit)
	}
	return &answer{status: response.StatusCode, body: body, header: response.Header}, nil
}

// bodyLimit is the length of the longest body for a frame of so many bytes. JSON takes a third more for payloads.
func bodyLimit(frame int) int { return 2 * frame }

func tooLong(limit int) error {
	return transport.NameLimit(&transport.SizeError{Size: uint32(limit) + 1, Limit: limit}, "MaxReplyBytes, doubled for JSON,")
}

// reason returns the cause of a context that has ended, or else the error.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// watch looks whether a request may have been sent, and that neither it nor the answer takes too long from the first byte
// to the last.
type watch struct {
	cancel    context.CancelCauseFunc
	limit     time.Duration
	connected atomic.Bool
	timer     atomic.Pointer[time.Timer]
}

var errSlow = transport.Lost(errors.New("a request or its answer took longer than FrameTimeout"))

// begin begins to measure.
func (w *watch) begin() {
	w.stop()
	w.timer.Store(time.AfterFunc(w.limit, func() { w.cancel(errSlow) }))
}

// stop stops to measure.
func (w *watch) stop() {
	if t := w.timer.Swap(nil); t != nil {
		t.Stop()
	}
}

func (w *watch) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			w.connected.Store(true)
			w.begin()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { w.stop() },
	}
}
