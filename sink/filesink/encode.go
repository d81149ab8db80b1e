package filesink

import (
	"bytes"
	"errors"
	"strings"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/codec"
)

// NDJSON writes each record as JSON on a line, in the text that encoding/json has for it. A sink of runnel.Failed is the
// usual place for dead letters.
func NDJSON[T any](path string, opts ...Option) *Sink[T] {
	appendJSON := codec.Encoder[T]()
	return newText("ndjson", path, func(dst []byte, batch *runnel.Batch[T], row int) ([]byte, error) {
		start := len(dst)
		dst, err := appendJSON(dst, &batch.Values()[row])
		if err != nil {
			return dst, err
		}
		if bytes.IndexByte(dst[start:], '\n') >= 0 {
			return dst, ErrLineFeed
		}
		return append(dst, '\n'), nil
	}, opts)
}

// Lines writes each record as a line. A record with a line feed in it is refused with [ErrLineFeed].
func Lines(path string, opts ...Option) *Sink[string] {
	return newText("lines", path, func(dst []byte, batch *runnel.Batch[string], row int) ([]byte, error) {
		line := batch.Values()[row]
		if strings.IndexByte(line, '\n') >= 0 {
			return dst, ErrLineFeed
		}
		return append(append(dst, line...), '\n'), nil
	}, opts)
}

// Bytes is [Lines] for lines that are bytes.
func Bytes(path string, opts ...Option) *Sink[[]byte] {
	return newText("lines", path, func(dst []byte, batch *runnel.Batch[[]byte], row int) ([]byte, error) {
		line := batch.Values()[row]
		if bytes.IndexByte(line, '\n') >= 0 {
			return dst, ErrLineFeed
		}
		return append(append(dst, line...), '\n'), nil
	}, opts)
}

// Encode writes what the encoder appends to dst for each value, with what ends it: a line feed, or see [Binary]. The
// encoder returns the longer slice and does not keep it; after an error the record is refused and what it appended is
// dropped.
func Encode[T any](path string, encode func(dst []byte, value T) ([]byte, error), opts ...Option) *Sink[T] {
	s := newText("file", path, func(dst []byte, batch *runnel.Batch[T], row int) ([]byte, error) {
		return encode(dst, batch.Values()[row])
	}, opts)
	if encode == nil {
		s.invalid = append(s.invalid, errors.New("the encoder is nil"))
	}
	return s
}

// EncodeRecord is [Encode] for an encoder that wants the metadata of a record too.
func EncodeRecord[T any](path string, encode func(dst []byte, record runnel.Record[T]) ([]byte, error), opts ...Option) *Sink[T] {
	s := newText("file", path, func(dst []byte, batch *runnel.Batch[T], row int) ([]byte, error) {
		return encode(dst, batch.Record(row))
	}, opts)
	if encode == nil {
		s.invalid = append(s.invalid, errors.New("the encoder is nil"))
	}
	return s
}

func newText[T any](kind, path string, encode encoder[T], opts []Option) *Sink[T] {
	cfg := defaultConfig()
	var invalid []error
	for _, o := range opts {
		if o == nil {
			invalid = append(invalid, errNilOption)
			continue
		}
		o.apply(&cfg)
	}
	return newSink(kind, path, encode, cfg, invalid)
}
