package filesink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn"
)

// target is where the records of a writer go: one file in place, or numbered ones. There is always one open part.
type target interface {
	// open finds, or makes, the part to write to. t is nil for a start without a checkpoint.
	open(t *token) error
	// part returns the open part.
	part() *part
	// tick looks at the clock, for full.
	tick()
	// full says that the open part is finished, were block bytes more written to it.
	full(block int) bool
	// count counts a record that was encoded.
	count()
	// next finishes the open part and opens another. After an error it may be called again.
	next() error
	// seal makes everything written durable and returns what a checkpoint needs to go on from there.
	seal() (*token, error)
	// commit gives the finished files of a token their names. It may be called again.
	commit(t *token) error
	// abort gives up what was written since the last seal, or since open.
	abort() error
	// close closes what is open. done says that everything written is sealed, and committed if it is to be.
	close(done bool) error
}

// format is what the way of writing a file depends on in the content.
type format struct {
	header []byte // what every file begins with
	rows   bool   // a line feed within quotes ends no record
}

// common is what both targets need.
type common struct {
	path   string
	cfg    *config
	format format
	env    runnel.SinkEnv
	counts *counters
	packer *fileconn.Packer
	origin *origin
	opened *part
	former string    // the name of the files at the checkpoint, if that was another
	time   time.Time // when tick was called last
	names  bool      // names in the folder are perhaps not durable
}

// origin is what a sink remembers of the file it began, or of the number, until a checkpoint of it is committed: what
// another attempt of the same run may take away as its own.
type origin struct {
	known  bool
	file   fileconn.FileID
	found  int64
	number int
}

func (c *common) part() *part { return c.opened }

func (c *common) log(level slog.Level, msg string, args ...any) {
	if c.env.Log != nil {
		c.env.Log.Log(context.Background(), level, msg, args...)
	}
}

// tick looks at the clock, once for many records.
func (c *common) tick() {
	if c.env.Clock == nil {
		c.time = time.Now()
		return
	}
	c.time = c.env.Clock.Now()
}

func (c *common) count() {
	if c.opened.Records == 0 {
		c.opened.Since = c.time
	}
	c.opened.Records++
}

// part is a file that is open to be written.
type part struct {
	mark
	body *fileconn.Body
	id   fileconn.FileID
}

// newPart writes f from m on. A file that is to hold nothing else yet begins with the header.
func (c *common) newPart(f fileconn.File, m mark) (*part, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	out, err := fileconn.NewOutput(f, m.Size)
	if err != nil {
		return nil, err
	}
	p := &part{mark: m, body: fileconn.NewBody(out, c.packer, c.cfg.blockBytes), id: fileconn.IDOf(info)}
	if m.Size == 0 && len(c.format.header) > 0 {
		if _, err := p.body.Write(c.format.header, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// sealPart ends the archive's member and, with sync, makes the part durable.
func (c *common) sealPart(sync bool) error {
	p := c.opened
	if err := p.body.EndMember(); err != nil {
		return err
	}
	if sync {
		if err := p.body.Output().Sync(); err != nil {
			return err
		}
	}
	if err := c.verify(p); err != nil {
		return err
	}
	p.Mark = p.body.Output().Mark()
	return nil
}

// verify looks whether the file still has its name and the length that was written: who moves, removes or cuts it takes
// records away.
func (c *common) verify(p *part) error {
	out := p.body.Output()
	info, err := c.cfg.fsys.Stat(out.Name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it is gone", ErrChanged)
	case err != nil:
		return err
	case fileconn.IDOf(info) != p.id:
		return fmt.Errorf("%w: another one has its name", ErrChanged)
	case info.Size() != out.Size():
		return fmt.Errorf("%w: it has %d bytes, %d were written", ErrChanged, info.Size(), out.Size())
	}
	return nil
}

// syncNames makes the names in the folder durable.
func (c *common) syncNames() error {
	if !c.names {
		return nil
	}
	if err := c.cfg.fsys.SyncDir(filepath.Dir(c.path)); err != nil {
		return err
	}
	c.names = false
	return nil
}

// token returns what a checkpoint needs to go on with the open part.
func (c *common) token(rolls bool) *token {
	return &token{
		Path: c.path, Rolls: rolls, Packing: c.cfg.packing, Header: string(c.format.header), Open: c.opened.mark,
	}
}

// accepts refuses a checkpoint whose files cannot be continued with the settings.
func (c *common) accepts(t *token, rolls bool) error {
	switch {
	case t == nil:
		return nil
	case t.Rolls != rolls:
		return fmt.Errorf("%w: one has a single file, the other numbered ones (%s)", ErrMismatch, t.Path)
	case t.Packing != c.cfg.packing:
		return fmt.Errorf("%w: the compression was %q and is %q", ErrMismatch, t.Packing, c.cfg.packing)
	case t.Header != string(c.format.header) && !t.Open.empty():
		return fmt.Errorf("%w: the file begins with another header", ErrMismatch)
	}
	if t.Path != c.path {
		c.former = t.Path
	}
	return nil
}

// openFile opens a file for reading and writing and takes its lock.
func (c *common) openFile(name string, flag int) (fileconn.File, int64, error) {
	f, err := c.cfg.fsys.OpenFile(name, os.O_RDWR|flag, c.cfg.mode)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
			err = fmt.Errorf("%w: its folder is missing; MakeDirs() makes it", fs.ErrNotExist)
		}
		return nil, 0, err
	}
	size, err := lockedSize(f)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

func lockedSize(f fileconn.File) (int64, error) {
	if err := fileconn.Lock(f); err != nil {
		if errors.Is(err, fileconn.ErrLocked) {
			return 0, ErrInUse
		}
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// makeDirs makes the folder, durable, if it is wanted and missing.
func (c *common) makeDirs() error {
	if !c.cfg.makeDirs {
		return nil
	}
	dir := filepath.Dir(c.path)
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := c.cfg.fsys.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			made = append(made, d)
			break
		}
		made = append(made, d)
	}
	if len(made) == 1 {
		return nil
	}
	if err := c.cfg.fsys.MkdirAll(dir, defaultDirMode); err != nil {
		return err
	}
	for _, d := range made {
		if err := c.cfg.fsys.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// removeOpen removes a file and closes it, in this order, so that nobody takes its lock in between. Where a file that is
// open cannot be removed, it is tried again afterwards.
func (c *common) removeOpen(p *part) error {
	name := p.body.Output().Name()
	err := c.cfg.fsys.Remove(name)
	closed := p.body.Output().Close()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = c.cfg.fsys.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	c.names = true
	return errors.Join(err, closed)
}
