package filesink

import (
	"io/fs"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// Defaults of the options, which say what they mean.
const (
	defaultBlockBytes = 256 << 10
	defaultMode       = fs.FileMode(0o644)
	defaultDirMode    = fs.FileMode(0o755)
	defaultComma      = ','
)

// Option sets how a file is written, whatever its format.
type Option interface {
	CSVOption
	apply(*config)
}

// CSVOption sets how a CSV file is written. Every [Option] is one.
type CSVOption interface{ applyCSV(*config) }

type option func(*config)

func (o option) apply(c *config)    { o(c) }
func (o option) applyCSV(c *config) { o(c) }

type csvOption func(*config)

func (o csvOption) applyCSV(c *config) { o(c) }

// config is what the options set.
type config struct {
	replace, append, allowLoss bool

	written    bool // an acknowledgement does not wait for the disk
	noEmpty    bool
	makeDirs   bool
	binary     bool
	packing    fileconn.Packing
	packingSet bool
	packings   bool // more than one was given
	level      int
	rollBytes  int64
	rollCount  int64
	rollEvery  time.Duration
	rolls      bool
	blockBytes int
	mode       fs.FileMode
	comma      rune
	crlf       bool
	fsys       fileconn.FS
}

func defaultConfig() config {
	return config{
		blockBytes: defaultBlockBytes, mode: defaultMode, comma: defaultComma, fsys: fileconn.OS{},
	}
}

// Replace lets a start without a checkpoint take away what is there: the file is emptied, or all files with a name of
// the pattern are removed. It has no effect on a start from a checkpoint. The default is to refuse such a start with
// [ErrExists].
func Replace() Option { return option(func(c *config) { c.replace = true }) }

// Append lets a start without a checkpoint go on behind what is there. A torn last record, which a crash left, is cut
// off, counted in [Stats] and logged: of lines what comes behind the last line feed, of an archive a member that is not
// whole. Numbered files go on with the next number, and what a crash left under a hidden name gets its own. To find a
// torn end, CSV files and archives are read from their beginning. It has no effect on a start from a checkpoint. The
// default is to refuse a start without one with [ErrExists].
//
// With a durable checkpoint store the length found is part of the first checkpoint, which is taken before anything is
// written: so a crash does not repeat a record either. Without one, records since the last checkpoint may be repeated.
func Append() Option { return option(func(c *config) { c.append = true }) }

// AllowLoss lets a start from a checkpoint go on from what is there although the file is shorter than the checkpoint
// says, is another one, or is missing. A torn last record is cut off. What is missing is counted in [Stats] and logged.
// The default is to refuse such a start with [ErrLoss].
func AllowLoss() Option { return option(func(c *config) { c.allowLoss = true }) }

// AckWritten acknowledges records as soon as the operating system has them. That is faster and outlives the end of the
// process, but not a loss of power: the next start then finds less than the checkpoint says and refuses, unless
// [AllowLoss] is set. Numbered files are on the disk before they get their names all the same. The default is to wait for
// the disk.
func AckWritten() Option { return option(func(c *config) { c.written = true }) }

// NoEmptyFile leaves no file behind if there was no record. The default is a valid empty one: a CSV file with its
// header, an archive of nothing. The file is there while the pipeline runs, and removed at its end.
func NoEmptyFile() Option { return option(func(c *config) { c.noEmpty = true }) }

// MakeDirs makes the folder of the file, and its parents, where they are missing. The default is to refuse to start.
func MakeDirs() Option { return option(func(c *config) { c.makeDirs = true }) }

// Binary says that the records of [Encode] or [EncodeRecord] do not end with a line feed. [Append] and [AllowLoss] then
// cut nothing off, as they cannot know where a record ends. The default is that they end with one.
func Binary() Option { return option(func(c *config) { c.binary = true }) }

// Gzip compresses with gzip. With [Zstd] or [Uncompressed] beside it the sink is refused. The default goes by the name: .gz is gzip, .zst is Zstandard.
func Gzip() Option { return pack(fileconn.PackGzip) }

// Zstd compresses with Zstandard. With [Gzip] or [Uncompressed] beside it the sink is refused. The default goes by the name: .gz is gzip, .zst is Zstandard.
func Zstd() Option { return pack(fileconn.PackZstd) }

// Uncompressed does not compress. The default goes by the name: .gz is gzip, .zst is Zstandard.
func Uncompressed() Option { return pack(fileconn.PackNone) }

func pack(p fileconn.Packing) Option {
	return option(func(c *config) {
		c.packings = c.packings || c.packingSet && c.packing != p
		c.packing, c.packingSet = p, true
	})
}

// Level sets how much work compression does: 1 to 9 for gzip, 1 to 22 for Zstandard, whose levels fall into four
// classes. The default 0 is the format's own choice.
func Level(level int) Option { return option(func(c *config) { c.level = level }) }

// RollBytes finishes a file once it holds n bytes, at least 1: it exceeds them by less than a record, or compressed by
// what the compressor has not given out yet. The default is no such limit.
func RollBytes(n int64) Option {
	return option(func(c *config) { c.rollBytes, c.rolls = n, true })
}

// RollRecords finishes a file once it holds n records, at least 1. The default is no such limit.
func RollRecords(n int64) Option {
	return option(func(c *config) { c.rollCount, c.rolls = n, true })
}

// RollEvery finishes a file once d has passed since its first record, by the pipeline's clock. It is looked at when
// records come and at each checkpoint: a file may be later by one interval of those. The default is no such limit.
func RollEvery(d time.Duration) Option {
	return option(func(c *config) { c.rollEvery, c.rolls = d, true })
}

// BlockBytes sets how many bytes of encoded records are collected before they are written; a checkpoint writes what
// there is. The default is 262,144. Small blocks show records sooner and cost a system call each; 1 writes every record
// at once. A writer holds one block and a record, or if it compresses three and what the compressor needs.
func BlockBytes(n int) Option { return option(func(c *config) { c.blockBytes = n }) }

// Mode sets the permissions of new files, before the umask. The default is 0644.
func Mode(perm fs.FileMode) Option { return option(func(c *config) { c.mode = perm }) }

// Comma sets what stands between two fields of CSV: an ASCII character other than '"', CR and LF. The default is ','.
func Comma(r rune) CSVOption { return csvOption(func(c *config) { c.comma = r }) }

// CRLF ends the rows of CSV with CR LF, as RFC 4180 has it. The default is LF.
func CRLF() CSVOption { return csvOption(func(c *config) { c.crlf = true }) }
