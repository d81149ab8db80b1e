package rest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/runnel-go/runnel/transport"
)

// Reasons why [Conn.DoHTTP] refuses a request.
var (
	// ErrPath is the cause for a path that does not begin with one slash, or cannot be read.
	ErrPath = errors.New("the path is none that begins with / and names no host")
	// ErrSessionPath is the cause for a path that changes who is logged in: the link would not know it.
	ErrSessionPath = errors.New("who is logged in is changed by the frames of login and logout only")
)

// DoHTTP makes any request of the HTTP interface, as the user that is logged in. GET and HEAD are taken for what changes
// nothing.
func (c *Conn) DoHTTP(ctx context.Context, method, target string, body []byte) (status int, reply []byte, err error) {
	out, err := c.raw(method, target, body)
	if err == nil {
		err = c.ending.Take(ctx, c.places)
	}
	if err != nil {
		return 0, nil, c.fail("request", true, err)
	}
	defer func() { <-c.places }()
	got, err := c.exchange(ctx, out)
	if err != nil {
		return 0, nil, c.explain(err)
	}
	return got.status, got.body, nil
}

func (c *Conn) raw(method, target string, body []byte) (*outgoing, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
		return nil, ErrPath
	}
	public := []string{pathLogin, pathTokenLogin, pathRefresh, pathLogout}
	if slices.Contains(public, strings.ToLower(path.Clean(u.Path))) {
		return nil, ErrSessionPath
	}
	limit := bodyLimit(c.limits.MaxRequestBytes)
	if len(body) > limit {
		return nil, fmt.Errorf("body: %w", &transport.SizeError{Size: uint32(min(uint64(len(body)), math.MaxUint32)), Limit: limit, Option: "MaxRequestBytes, doubled for JSON,"})
	}
	return &outgoing{
		method: method, path: u.EscapedPath(), query: u.Query(), body: body,
		safe: method == http.MethodGet || method == http.MethodHead,
	}, nil
}
