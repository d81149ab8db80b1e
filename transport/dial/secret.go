package dial

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/runnel-go/runnel/transport"
)

// redacted stands in the place of what is not shown.
const redacted = "[redacted]"

// Secret is a text that is not printed.
type Secret = transport.Secret

// NewSecret returns a secret.
func NewSecret(text string) Secret { return transport.NewSecret(text) }

// Credentials are a user name and a password, or an access token. They print as [redacted].
type Credentials struct {
	// Username is empty with a token.
	Username string
	// Password goes with the user name.
	Password Secret
	// Token is an access token, as the server gave it.
	Token Secret
}

// String is [redacted].
func (Credentials) String() string { return redacted }

// GoString is [redacted].
func (Credentials) GoString() string { return redacted }

// Format prints [redacted] for every verb.
func (Credentials) Format(f fmt.State, _ rune) { hide(f) }

// MarshalText returns [redacted].
func (Credentials) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue is [redacted].
func (Credentials) LogValue() slog.Value { return slog.StringValue(redacted) }

func hide(f fmt.State) {
	_, _ = io.WriteString(f, redacted) // fmt keeps its own errors
}
