package filesource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/codec"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/wallclock"
)

// Source reads files. It is made by one of the constructors of this package.
type Source[T any] struct {
	kind    string
	pattern string
	config  config
	errs    []error // mistakes in how it was made
	parser  func(*config) parser[T]
}

var (
	_ runnel.Source[string] = (*Source[string])(nil)
	_ runnel.Describer      = (*Source[string])(nil)
	_ runnel.Validator      = (*Source[string])(nil)
	_ runnel.Overlapper     = (*Source[string])(nil)
)

// Lines reads the lines of files as strings, without what ends them. The lines of one fetch share their memory: who
// keeps a few of many copies them with strings.Clone.
func Lines(pattern string, opts ...LineOption) *Source[string] {
	return newLineSource("lines", pattern, opts, func(c *config) parser[string] {
		return &textParser{newLineSplitter(c)}
	})
}

// NDJSON reads the lines of files as JSON texts. Blank lines are passed over. The results are those of encoding/json.
// Short strings share blocks of 4 KiB: who keeps a few of many copies them with strings.Clone.
func NDJSON[T any](pattern string, opts ...LineOption) *Source[T] {
	opts = append([]LineOption{lineOption(func(c *config) { c.skipBlank = true })}, opts...)
	return newLineSource("ndjson", pattern, opts, func(c *config) parser[T] {
		return &decodeParser[T]{newLineSplitter(c), codec.PackingDecoder[T]()}
	})
}

// Decode reads the lines of files by a function, which is given them without what ends them. A line is valid during the
// call only. An error makes it a failed record.
func Decode[T any](pattern string, decode func(line []byte) (T, error), opts ...LineOption) *Source[T] {
	s := newLineSource("decode", pattern, opts, func(c *config) parser[T] {
		return &decodeParser[T]{newLineSplitter(c), func(line []byte, to *T) (err error) {
			*to, err = decode(line)
			return err
		}}
	})
	if decode == nil {
		s.errs = append(s.errs, errors.New("Decode has no function"))
	}
	return s
}

func newLineSource[T any](kind, pattern string, opts []LineOption, parser func(*config) parser[T]) *Source[T] {
	s := &Source[T]{kind: kind, pattern: pattern, config: defaultConfig(), parser: parser}
	for _, o := range opts {
		if o == nil {
			s.errs = append(s.errs, errNilOption)
			continue
		}
		o.applyLine(&s.config)
	}
	return s
}

var errNilOption = errors.New("an option is nil")

// Describe says that files can be read again from a position.
func (s *Source[T]) Describe() runnel.Traits { return runnel.Traits{Kind: s.kind, Replay: true} }

// Validate returns every mistake in the pattern and the options, each with the pattern.
func (s *Source[T]) Validate() error {
	errs := append(s.config.check(), s.errs...)
	place := "filesource: " + s.pattern + ": "
	if s.pattern == "" {
		place = "filesource: "
		errs = append(errs, errors.New("the path is empty"))
	}
	if _, err := filepath.Match(s.pattern, ""); err != nil {
		errs = append(errs, err)
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s%w", place, err)
	}
	return errors.Join(errs...)
}

// Open finds the files and reads on where from says. Errors: [ErrNoFiles], which is [fs.ErrNotExist] too for a
// path without wildcards; those of the file system for a file that cannot be read.
func (s *Source[T]) Open(ctx context.Context, env runnel.SourceEnv, from checkpoint.Position) (runnel.Reader[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p := s.parser(&s.config)
	h, _ := p.(headed)
	f := newFeed(s.config, s.pattern, withDefaults(env), h)
	if err := f.openAll(from); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return &reader[T]{feed: f, parser: p}, nil
}

// withDefaults fills in what a caller other than a pipeline may leave out.
func withDefaults(env runnel.SourceEnv) runnel.SourceEnv {
	if env.MaxBatch < 1 {
		env.MaxBatch = 1024
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	if env.Clock == nil {
		env.Clock = wallclock.Clock{}
	}
	return env
}

// openAll finds the files for the first time.
func (s *feed) openAll(from checkpoint.Position) error {
	if err := s.restore(from); err != nil {
		return err
	}
	if _, machine := s.fsys.(fileconn.OS); machine && s.follow && !s.pollOnly {
		s.watch = newWatch(s.env.Log.Warn)
	}
	if err := s.scanFailed(s.scan()); err != nil {
		return err
	}
	if len(s.matched) == 0 && !s.follow && !s.allowNone {
		return s.noFiles()
	}
	if s.follow {
		return nil
	}
	for _, f := range s.queue { // a file that cannot be read is better known now than when its turn comes
		if err := s.openHandle(f); err != nil {
			return fmt.Errorf("filesource: %s: %w", f.path, aside(f.path, err))
		}
		s.closeHandle(f)
	}
	return nil
}

// noFiles returns the error for a pattern that leads to no file.
func (s *feed) noFiles() error {
	why := ErrNoFiles
	if _, err := s.fsys.Stat(s.pattern); absent(err) && !hasMeta(s.pattern) {
		why = fmt.Errorf("%w: %w", ErrNoFiles, fs.ErrNotExist)
	}
	return fmt.Errorf("filesource: %s: %w; AllowNone() starts without one, Follow() waits for one", s.pattern, why)
}
