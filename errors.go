package runnel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/runnel-go/runnel/internal/engine"
)

var (
	// ErrClosed is returned by what has ended: a pipeline that ran, a push source that stopped.
	ErrClosed = errors.New("runnel: closed")
	// ErrAborted is returned by Run after [Pipeline.Abort].
	ErrAborted = errors.New("runnel: aborted")
	// ErrNotOwned is what a Reader's Commit returns, wrapped, for partitions that it does not own any more, beside having
	// committed the others. It does not fail the run: who has the partition now reads on from the commit before.
	ErrNotOwned = engine.ErrNotOwned
	// ErrDrainTimeout is returned by Run when a stop was not done within [DrainTimeout].
	ErrDrainTimeout = errors.New("runnel: drain time-out passed")
)

// String returns the origin as source, partition and offset, leaving out what is not known.
func (o Origin) String() string {
	switch {
	case o.Source == "" && o.Partition == "":
		return ""
	case o.Partition == "":
		return fmt.Sprintf("%s@%d", o.Source, o.Offset)
	}
	return fmt.Sprintf("%s/%s@%d", o.Source, o.Partition, o.Offset)
}

// StageError says that a source, stage or sink failed, and at which record if that is known.
type StageError struct {
	// Stage is its name in the pipeline.
	Stage string
	// Origin is where the record was read that it failed at; zero if it failed at none.
	Origin Origin
	// Err is the cause.
	Err error
}

// Error names the stage, the record and the cause.
func (e *StageError) Error() string {
	if at := e.Origin.String(); at != "" {
		return fmt.Sprintf("runnel: %s: at %s: %v", e.Stage, at, e.Err)
	}
	return fmt.Sprintf("runnel: %s: %v", e.Stage, e.Err)
}

// Unwrap returns the cause.
func (e *StageError) Unwrap() error { return e.Err }

// PanicError is a panic of user code or of a connector, caught.
type PanicError = engine.PanicError

// BatchError says that a sink refused some records of what it was given and took the rest.
type BatchError[T any] struct {
	// Failed are the records refused.
	Failed []Record[T]
	// Errs has the cause for each of them.
	Errs []error
}

// Error returns the number of records and the first cause.
func (e *BatchError[T]) Error() string {
	if len(e.Errs) == 0 {
		return "no record failed"
	}
	return fmt.Sprintf("%d records failed, the first with: %v", len(e.Failed), e.Errs[0])
}

// Unwrap returns the causes.
func (e *BatchError[T]) Unwrap() []error { return e.Errs }

// Failed is a record that a source, stage or sink could not handle, as it was before that stage. It is what a
// dead-letter sink receives. Its JSON form has the value as JSON if it is a Go value, or as text (base64 if it is not
// UTF-8) if it is a string or bytes.
type Failed struct {
	Meta
	// Value is the value as it was before the stage.
	Value any
	// Stage is the name of the source, stage or sink.
	Stage string
	// Attempts is how often it was tried, at least 1.
	Attempts int
	// Err is the error of the last attempt.
	Err error
}

// MarshalJSON returns the JSON form.
func (f Failed) MarshalJSON() ([]byte, error) {
	type header struct {
		Name  string `json:"name"`
		Value []byte `json:"value"`
	}
	form := struct {
		Stage     string     `json:"stage"`
		Error     string     `json:"error"`
		Attempts  int        `json:"attempts"`
		Source    string     `json:"source,omitempty"`
		Partition string     `json:"partition,omitempty"`
		Offset    *int64     `json:"offset,omitempty"`
		Time      *time.Time `json:"time,omitempty"`
		Key       []byte     `json:"key,omitempty"`
		Headers   []header   `json:"headers,omitempty"`
		Value     any        `json:"value,omitempty"`
		Base64    []byte     `json:"value_base64,omitempty"`
	}{Stage: f.Stage, Attempts: f.Attempts, Source: f.Origin.Source, Partition: f.Origin.Partition, Key: f.Key}
	if f.Err != nil {
		form.Error = f.Err.Error()
		if _, ok := errors.AsType[*PanicError](f.Err); ok {
			form.Error, _, _ = strings.Cut(form.Error, "\n") // the stack is for who runs the program, not for a file of records
		}
	}
	if f.Origin.Source != "" || f.Origin.Partition != "" {
		form.Offset = &f.Origin.Offset
	}
	if !f.Time.IsZero() {
		form.Time = &f.Time
	}
	for _, h := range f.Headers {
		form.Headers = append(form.Headers, header(h))
	}
	form.Value, form.Base64 = jsonValue(f.Value)
	return json.Marshal(form)
}

// jsonValue returns a value that JSON can hold, or its bytes where text cannot.
func jsonValue(v any) (any, []byte) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		if _, err := json.Marshal(v); err != nil {
			return fmt.Sprintf("%+v", v), nil
		}
		return v, nil
	}
	if utf8.ValidString(text) {
		return text, nil
	}
	return nil, []byte(text)
}

// Retryable says whether what failed with err may succeed if it is simply done again, and was surely not done. An error
// says so itself by a method Retryable() bool (see [AsRetryable]); the first in the chain that has one decides. Any
// other error, and the end of a context, is not retryable.
func Retryable(err error) bool {
	if err == nil || canceled(err) {
		return false
	}
	var r interface{ Retryable() bool }
	return errors.As(err, &r) && r.Retryable()
}

// AsRetryable marks err as one after which the same may be tried again. It returns nil for nil.
func AsRetryable(err error) error {
	if err == nil {
		return nil
	}
	return retryableError{err}
}

type retryableError struct{ error }

func (e retryableError) Unwrap() error   { return e.error }
func (e retryableError) Retryable() bool { return true }

// canceled says whether err is the end of a context and so no failure of a record.
func canceled(err error) bool { return errors.Is(err, context.Canceled) }
