package filesource

import (
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// Defaults of the options, which say what they mean.
const (
	DefaultMaxLineBytes = 16 << 20
	DefaultPollInterval = time.Second
	DefaultGrace        = 5 * time.Second
	DefaultForgetAfter  = 24 * time.Hour
	DefaultMaxOpenFiles = 256
	DefaultComma        = ','
)

const mostLineBytes = 1 << 30

// LineOption sets how a source of lines reads: [Lines], [NDJSON], [Decode].
type LineOption interface{ applyLine(*config) }

// CSVOption sets how a source of CSV records reads: [CSV], [CSVRows].
type CSVOption interface{ applyCSV(*config) }

// Option sets how any source of this package reads.
type Option interface {
	LineOption
	CSVOption
}

type (
	option     func(*config)
	lineOption func(*config)
	csvOption  func(*config)
)

func (o option) applyLine(c *config)     { o(c) }
func (o option) applyCSV(c *config)      { o(c) }
func (o lineOption) applyLine(c *config) { o(c) }
func (o csvOption) applyCSV(c *config)   { o(c) }

// config is what the options set.
type config struct {
	fsys fileconn.FS

	maxLine   int
	raw       bool
	utf8      bool
	stopAtNUL bool
	skipBlank bool
	allowNone bool

	follow      bool
	following   []string // the options given that need it
	interval    time.Duration
	pollOnly    bool
	grace       time.Duration
	forgetAfter time.Duration
	maxOpen     int
	onEvent     func(Event)

	comma        rune
	comment      rune
	lazyQuotes   bool
	skipHeader   bool
	anyLength    bool
	exactColumns bool
}

func defaultConfig() config {
	return config{
		fsys:        fileconn.OS{},
		maxLine:     DefaultMaxLineBytes,
		interval:    DefaultPollInterval,
		grace:       DefaultGrace,
		forgetAfter: DefaultForgetAfter,
		maxOpen:     DefaultMaxOpenFiles,
		comma:       DefaultComma,
	}
}

// MaxLineBytes bounds a line, or a CSV record, without what ends it, in bytes. A longer one is a failed record with
// [ErrTooLong], and reading goes on at the next line. The default is 16 MiB, the least 1, the most
// 1 GiB. Up to three times as much memory is used while such a line is read.
func MaxLineBytes(n int) Option { return option(func(c *config) { c.maxLine = n }) }

// Raw keeps what else is taken away: a byte order mark at the start of a file and the CR of a CR LF. UTF-16 is not
// refused. The default takes them away and keeps any other CR.
func Raw() LineOption { return lineOption(func(c *config) { c.raw = true }) }

// RequireUTF8 makes a line, or a CSV record, that is not valid UTF-8 a failed record with [ErrUTF8]. The default passes
// bytes on as they are.
func RequireUTF8() Option { return option(func(c *config) { c.utf8 = true }) }

// StopAtNUL takes the first NUL byte of a plain file for its end, as in logs whose space is allocated ahead. With [Follow]
// reading goes on once the NUL is overwritten; without it the next run looks again. The default takes NUL for a byte
// like others, but a line of nothing else is a failed record with [ErrNUL].
func StopAtNUL() Option { return option(func(c *config) { c.stopAtNUL = true }) }

// AllowNone opens also where no file matches: there is nothing to read then. The default is the error [ErrNoFiles].
// [Follow] implies it.
func AllowNone() Option { return option(func(c *config) { c.allowNone = true }) }

// Follow reads on as files grow, and reads files that come to match later; the source does not end. A last line
// without line feed waits for it. A file that was renamed or removed is read to its end, once more after [Grace], and
// let go. A file that was cut and written anew is read from its start. The default reads what is there and ends.
func Follow() Option { return option(func(c *config) { c.follow = true }) }

// PollInterval sets how often a source with [Follow] looks at the files, also where the system tells of changes: it
// does not on network file systems. The default is 1 s. What is created and removed in between is not seen; a log that
// is rotated more than once in between is, if the old files keep its name and add to it.
func PollInterval(d time.Duration) Option {
	return needsFollow("PollInterval", func(c *config) { c.interval = d })
}

// PollOnly lets a source with [Follow] look every [PollInterval] and not ask the system to tell of changes. The default
// asks.
func PollOnly() Option { return needsFollow("PollOnly", func(c *config) { c.pollOnly = true }) }

// Grace sets how long a file that was renamed away or removed is waited on, since its end was reached or it was written
// to last, for writers that still have it open; and how long an archive that ends in its middle may stay so before that is an error. It needs
// [Follow]. The default is 5 s; 0 does not wait. What is written later than that is lost.
func Grace(d time.Duration) Option { return needsFollow("Grace", func(c *config) { c.grace = d }) }

// ForgetAfter sets how long the position of a file that is gone is kept, in case it comes back (a file system that was
// not mounted), and to know copies that rotation makes of it. The default is 24 h; 0 forgets at once. A file that comes
// back later is read again from its start.
func ForgetAfter(d time.Duration) Option { return option(func(c *config) { c.forgetAfter = d }) }

// MaxOpenFiles bounds the files that a source with [Follow] has open. The default is 256, the least 1. Beyond it, files
// that have not changed for longest are closed until they do; what is written to one and removed before the next look
// is lost then. Files that were renamed away or removed are not counted: they are open until [Grace] is over.
func MaxOpenFiles(n int) Option {
	return needsFollow("MaxOpenFiles", func(c *config) { c.maxOpen = n })
}

// OnEvent calls f when a file is rotated, cut, gone, or lost bytes. Calls come one at a time from the goroutine that
// reads, which waits. The default only logs them.
func OnEvent(f func(Event)) Option { return option(func(c *config) { c.onEvent = f }) }

// Comma sets the byte between two fields, an ASCII character other than '"', CR and LF. The default is ','.
func Comma(r rune) CSVOption { return csvOption(func(c *config) { c.comma = r }) }

// Comment skips lines that begin with r, an ASCII character. The default skips none.
func Comment(r rune) CSVOption { return csvOption(func(c *config) { c.comment = r }) }

// LazyQuotes takes a quote in a field that does not begin with one, and a quote within a quoted field that neither ends
// it nor is doubled, for a character like others. The default makes such a record a failed one.
func LazyQuotes() CSVOption { return csvOption(func(c *config) { c.lazyQuotes = true }) }

// SkipHeader leaves out the first record of each file. It is for [CSVRows]: [CSV] always has a header. The default
// gives all records.
func SkipHeader() CSVOption { return csvOption(func(c *config) { c.skipHeader = true }) }

// VariableFields lets records have fewer or more fields than the first of their file. [CSV] takes a missing field for
// an empty one. The default makes such a record a failed one with [ErrFieldCount].
func VariableFields() CSVOption { return csvOption(func(c *config) { c.anyLength = true }) }

// ExactColumns refuses a file with a column that the struct of [CSV] has no field for, with [ErrColumns]. The default
// passes over such columns. A column that is missing is always refused.
func ExactColumns() CSVOption { return csvOption(func(c *config) { c.exactColumns = true }) }

// needsFollow returns an option that has no effect without [Follow].
func needsFollow(name string, set func(*config)) Option {
	return option(func(c *config) {
		c.following = append(c.following, name)
		set(c)
	})
}

// check returns every mistake in the options.
func (c *config) check() []error {
	var errs []error
	atLeast := func(ok bool, name, least string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s is less than %s", name, least))
		}
	}
	atLeast(c.maxLine >= 1, "MaxLineBytes", "1")
	if c.maxLine > mostLineBytes {
		errs = append(errs, errors.New("MaxLineBytes is more than 1 GiB"))
	}
	atLeast(c.interval > 0, "PollInterval", "1 ns")
	atLeast(c.grace >= 0, "Grace", "0")
	atLeast(c.forgetAfter >= 0, "ForgetAfter", "0")
	atLeast(c.maxOpen >= 1, "MaxOpenFiles", "1")
	if !separator(c.comma) {
		errs = append(errs, errors.New("Comma is not an ASCII character, or is one that CSV needs"))
	}
	if c.comment != 0 && (!separator(c.comment) || c.comment == c.comma) {
		errs = append(errs, errors.New("Comment is not an ASCII character, or is one that CSV needs"))
	}
	if !c.follow {
		for _, name := range c.following {
			errs = append(errs, fmt.Errorf("%s has no effect without Follow; leave it out, or give both", name))
		}
	}
	return errs
}

func separator(r rune) bool {
	return r > 0 && r < 0x80 && r != '"' && r != '\r' && r != '\n'
}
