package filesink

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// Sink writes records to a file, or to numbered files. It is transactional: with a durable checkpoint store nothing is
// lost and nothing repeated. See the constructors, and the package for what it promises.
type Sink[T any] struct {
	kind    string
	path    string
	cfg     config
	format  format
	encode  encoder[T]
	invalid []error // mistakes that the constructor found
	counts  counters
	origin  origin
	open    atomic.Bool
}

var (
	_ runnel.Sink[int]     = (*Sink[int])(nil)
	_ runnel.Describer     = (*Sink[int])(nil)
	_ runnel.Validator     = (*Sink[int])(nil)
	_ runnel.Writer[int]   = (*writer[int])(nil)
	_ runnel.Transactional = (*writer[int])(nil)
)

// encoder appends a record of a batch, with what ends it.
type encoder[T any] func(dst []byte, batch *runnel.Batch[T], row int) ([]byte, error)

// newSink returns a sink with its options set; invalid are the mistakes in them.
func newSink[T any](kind, path string, encode encoder[T], cfg config, invalid []error) *Sink[T] {
	if !cfg.packingSet {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".gz":
			cfg.packing = fileconn.PackGzip
		case ".zst":
			cfg.packing = fileconn.PackZstd
		}
	}
	return &Sink[T]{kind: kind, path: path, cfg: cfg, encode: encode, invalid: invalid}
}

// Describe says that the sink is transactional, and which file is its own.
func (s *Sink[T]) Describe() runnel.Traits {
	t := runnel.Traits{Kind: s.kind, Transactional: true}
	if path, err := filepath.Abs(s.path); err == nil && s.path != "" {
		t.Owns = "file " + path
	}
	return t
}

// Stats returns what happened to the files so far, beside being written. It is safe for concurrent use.
func (s *Sink[T]) Stats() Stats { return s.counts.stats() }

// Validate returns every mistake in the path and the options, each with the path.
func (s *Sink[T]) Validate() error {
	errs := append([]error{}, s.invalid...)
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	c := &s.cfg
	refuse(s.path == "", "the path is empty")
	refuse(c.packings, "Gzip, Zstd and Uncompressed exclude each other")
	refuse(c.replace && c.append, "Replace and Append exclude each other")
	refuse(c.blockBytes < 1, "BlockBytes(%d) is below 1", c.blockBytes)
	lowest, highest := c.packing.Levels()
	packed := c.packing != fileconn.PackNone
	refuse(packed && c.level != 0 && (c.level < lowest || c.level > highest),
		"Level(%d) is not from %d to %d, the levels of %q", c.level, lowest, highest, c.packing)
	refuse(!packed && c.level != 0, "Level without compression")
	_, noPattern := parsePattern(s.path)
	if c.rolls {
		refuse(noPattern != nil, "%w", noPattern)
		refuse(c.rollBytes <= 0 && c.rollCount <= 0 && c.rollEvery <= 0 || c.rollBytes < 0 || c.rollCount < 0 || c.rollEvery < 0,
			"a limit for the size, records or age of a file is below 1")
	} else {
		refuse(noPattern == nil, "the name has a verb for a number, and RollBytes, RollRecords or RollEvery is missing")
	}
	for i, err := range errs {
		errs[i] = at(s.path, err)
	}
	return errors.Join(errs...)
}

// Open opens the file, or begins a new one. Errors: [ErrExists], [ErrLoss], [ErrInUse], [ErrMismatch].
func (s *Sink[T]) Open(_ context.Context, env runnel.SinkEnv) (runnel.Writer[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	t, err := decodeToken(env.Prepared)
	if err != nil {
		return nil, at(s.path, err)
	}
	if !s.open.CompareAndSwap(false, true) {
		return nil, at(s.path, ErrInUse)
	}
	to, err := s.target(env)
	if err == nil {
		err = to.open(t)
	}
	if err != nil {
		s.open.Store(false)
		return nil, at(s.path, err)
	}
	return &writer[T]{sink: s, to: to}, nil
}

// target returns where the records of an attempt go.
func (s *Sink[T]) target(env runnel.SinkEnv) (target, error) {
	c := common{
		path: s.path, cfg: &s.cfg, format: s.format, env: env, counts: &s.counts, origin: &s.origin,
		packer: fileconn.NewPacker(s.cfg.packing, s.cfg.level),
		names:  true, // a former process may have ended before it made them durable
	}
	if !s.cfg.rolls {
		return &inPlace{common: c}, nil
	}
	p, err := parsePattern(s.path)
	return &rolled{common: c, pattern: p}, err
}
