package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// decodeError is an error of encoding/json whose text tells the place and the kind of the fault but not the value: errors end up in
// logs, and values are not to.
type decodeError struct{ cause error }

func (e *decodeError) Unwrap() error { return e.cause }

func (e *decodeError) Error() string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var layout *time.ParseError
	switch {
	case errors.As(e.cause, &syntax):
		return fmt.Sprintf("json: %s (byte %d)", syntax, syntax.Offset)
	case errors.As(e.cause, &kind):
		return kindText(kind)
	case errors.As(e.cause, &layout):
		return fmt.Sprintf("json: a time is not of the form %s", layout.Layout)
	}
	return "json: a value is refused by its type"
}

func kindText(e *json.UnmarshalTypeError) string {
	found, _, _ := strings.Cut(e.Value, " ") // behind a space stands the number itself
	into := "type " + e.Type.String()
	if e.Field != "" {
		into = fmt.Sprintf("field %s of %s", e.Field, into)
	}
	return fmt.Sprintf("json: %s does not fit %s (byte %d)", found, into, e.Offset)
}
