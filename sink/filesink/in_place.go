package filesink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// inPlace is one file that is written where it is.
type inPlace struct {
	common
	kept mark // what abort goes back to
}

func (p *inPlace) open(t *token) error {
	if err := p.accepts(t, false); err != nil {
		return err
	}
	if err := p.look(t); err != nil {
		return err
	}
	f, size, err := p.openFile(p.path, os.O_CREATE)
	if err != nil {
		return err
	}
	if err := p.begin(f, size, t); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// look refuses what is there, or is not, before anything is made.
func (p *inPlace) look(t *token) error {
	info, err := p.cfg.fsys.Stat(p.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if t != nil && !t.Open.empty() {
		what := fmt.Sprintf("is missing, checkpoint %d has %d bytes of it", p.env.From, t.Open.Size)
		if err := p.lossAllowed(what); err != nil {
			return err
		}
		p.lose(p.path, t.Open.Size)
		t.Open = mark{}
	}
	return p.makeDirs()
}

// begin decides where in the file to go on.
func (p *inPlace) begin(f fileconn.File, size int64, t *token) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	id := fileconn.IDOf(info)
	var m mark
	switch {
	case t != nil && t.Open.empty() && (size < t.Open.Size || t.Open.Size == 0 && t.Open.File != id):
		// Nothing is lost but a header, and no bytes tell whether it is the same file.
		m, err = p.first(f, size)
	case t != nil:
		m, err = p.resume(f, size, t.Open)
	case p.origin.known && p.origin.file == id && p.origin.found <= size:
		m = mark{Mark: fileconn.Mark{Size: p.origin.found}, Found: p.origin.found}
	default:
		m, err = p.first(f, size)
	}
	if err != nil {
		return err
	}
	if p.opened, err = p.newPart(f, m); err != nil {
		return err
	}
	if t == nil {
		*p.origin = origin{known: true, file: id, found: m.Size}
	}
	p.opened.File = p.opened.id
	p.kept = m
	return nil
}

// first decides what to do with what is there at a start without a checkpoint.
func (p *inPlace) first(f fileconn.File, size int64) (mark, error) {
	unused, err := p.unused(f, size)
	switch {
	case err != nil || unused || p.cfg.replace:
		return mark{}, err
	case p.cfg.append:
		return p.behind(f, size)
	}
	return mark{}, p.exists(fmt.Sprintf("it holds %d bytes", size))
}

func (p *inPlace) full(int) bool { return false }

func (p *inPlace) next() error { return errors.New("a single file has no next one") }

func (p *inPlace) seal() (*token, error) {
	if err := p.sealPart(!p.cfg.written); err != nil {
		return nil, err
	}
	if err := p.syncNames(); err != nil {
		return nil, err
	}
	p.kept = p.opened.mark
	return p.token(false), nil
}

func (p *inPlace) commit(*token) error { return nil }

// syncNames makes the name durable, unless an acknowledgement does not wait for the disk.
func (p *inPlace) syncNames() error {
	if p.cfg.written {
		return nil
	}
	return p.common.syncNames()
}

func (p *inPlace) abort() error { return p.opened.body.Cut(p.kept.Size) }

func (p *inPlace) close(done bool) error {
	if p.opened == nil {
		return nil
	}
	part := p.opened
	p.opened = nil
	if done && p.cfg.noEmpty && part.empty() {
		return errors.Join(p.removeOpen(part), p.syncNames())
	}
	return part.body.Output().Close()
}
