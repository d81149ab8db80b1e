package client

import (
	"context"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// Forever is the life of what does not end by itself: a token, or the messages of a topic.
const Forever time.Duration = -1

// GetPersonalAccessTokens returns the tokens of the user who is logged in, without what to log in with.
func (c *Client) GetPersonalAccessTokens(ctx context.Context) ([]wire.PersonalAccessToken, error) {
	r, err := call[wire.PersonalAccessTokens](ctx, c, wire.CmdGetPersonalAccessTokens, nil)
	return r.Tokens, err
}

// CreatePersonalAccessToken makes a token with a name of 3 to 30 bytes for the user who is logged in, and returns what to log
// in with: see [Token]. The server does not tell it again. It can be used for the time expiry, at least a microsecond,
// [Forever], or for 0 what the server takes. If the name is taken the error is [wire.CodePersonalAccessTokenAlreadyExists].
func (c *Client) CreatePersonalAccessToken(
	ctx context.Context, name string, expiry time.Duration,
) (transport.Secret, error) {
	const command = wire.CmdCreatePersonalAccessToken
	err := check(command, checkTokenName(name),
		checkLife(wire.CodeInvalidPersonalAccessTokenExpiry, "the expiry", expiry))
	if err != nil {
		return transport.Secret{}, err
	}
	r, err := call[wire.RawToken](ctx, c, command, &wire.CreatePersonalAccessToken{Name: name, Expiry: micros(expiry)})
	if err != nil {
		return transport.Secret{}, err
	}
	return transport.NewSecret(r.Token), nil
}

// DeletePersonalAccessToken deletes a token of the user who is logged in. If there is none the error is
// [wire.CodeResourceNotFound].
func (c *Client) DeletePersonalAccessToken(ctx context.Context, name string) error {
	return c.do(ctx, wire.CmdDeletePersonalAccessToken, &wire.DeletePersonalAccessToken{Name: name}, checkTokenName(name))
}

func checkTokenName(name string) *fault {
	return checkText(wire.CodeInvalidPersonalAccessTokenName, "the name of the token", name, 3, 30)
}

// checkLife wants a time that [micros] can turn into microseconds.
func checkLife(code wire.Code, what string, d time.Duration) *fault {
	if d == 0 || d == Forever || d >= time.Microsecond {
		return nil
	}
	return &fault{code, fmt.Sprintf("%s is %v, not Forever, 0 or at least 1µs", what, d)}
}

// micros are the microseconds of a time that may be [Forever].
func micros(d time.Duration) uint64 {
	if d == Forever {
		return wire.NeverExpires
	}
	return uint64(d.Microseconds())
}
