package transport

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted stands in the place of what is not shown.
const redacted = "[redacted]"

// Secret is a text that is not printed: with any verb of fmt, as JSON or in a log it is [redacted]. The zero value is
// empty. Secrets are not to be compared with ==.
type Secret struct {
	// text is a pointer, as fmt goes past methods where a Secret is in an unexported field, and shows an address then.
	text *string
}

// NewSecret returns a secret.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty says whether there is no text.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// String is [redacted].
func (Secret) String() string { return redacted }

// GoString is [redacted].
func (Secret) GoString() string { return redacted }

// Format prints [redacted] for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText returns [redacted].
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue is [redacted].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
