package filesink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// rolled is numbered files: the open one and those that are finished have hidden names; a commit gives the finished ones
// theirs.
type rolled struct {
	common
	pattern pattern
	done    []mark        // finished and not committed
	kept    token         // what abort goes back to
	claimed fileconn.File // while it is opened: the newest part found, for its lock
	sealed  bool          // a seal succeeded, so that an end without records is one
}

// full says that the open part is finished. One without a record never is.
func (r *rolled) full(block int) bool {
	p, c := r.opened, r.cfg
	if p.Records == 0 {
		return false
	}
	if c.packing != fileconn.PackNone {
		block = 0
	}
	return c.rollCount > 0 && p.Records >= c.rollCount ||
		c.rollBytes > 0 && p.body.Size()+int64(block) >= c.rollBytes ||
		c.rollEvery > 0 && r.time.Sub(p.Since) >= c.rollEvery
}

// next opens the part behind the open one before it lets go of that and of its lock. What is finished is made durable
// whatever an acknowledgement means: nobody looks at it again.
func (r *rolled) next() error {
	if err := r.sealPart(true); err != nil {
		return err
	}
	old := r.opened
	if err := r.start(old.Number + 1); err != nil {
		return err
	}
	r.done = append(r.done, old.mark)
	return old.body.Output().Close()
}

// start opens an empty part of that number.
func (r *rolled) start(number int) error {
	if err := r.free(number); err != nil {
		return err
	}
	name := r.pattern.hidden(number)
	f, _, err := r.openFile(name, os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	p, err := r.newPart(f, mark{Number: number})
	if err != nil {
		return errors.Join(err, r.cfg.fsys.Remove(name), f.Close())
	}
	r.opened, r.names = p, true
	return nil
}

// free refuses a number whose name somebody else gave to a file.
func (r *rolled) free(number int) error {
	name := r.pattern.done(number)
	switch _, err := r.cfg.fsys.Stat(name); {
	case err == nil:
		return fmt.Errorf("%w: %s is the name of the next file; move it away", ErrExists, name)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// seal finishes the open part if its time has come. The names are made durable whatever an acknowledgement means: a
// part that is gone is then known to be one that got its name.
func (r *rolled) seal() (*token, error) {
	r.tick()
	if r.full(0) {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	if err := r.sealPart(!r.cfg.written); err != nil {
		return nil, err
	}
	if err := r.syncNames(); err != nil {
		return nil, err
	}
	t := r.token(true)
	t.Done = slices.Clone(r.done)
	r.kept, r.sealed = *t, true
	return t, nil
}

// commit gives finished parts their names, which they may have already, also when somebody took the file away since.
func (r *rolled) commit(t *token) error {
	if len(t.Done) == 0 {
		return nil
	}
	return r.nameAll(t.Done)
}

// nameAll gives finished parts their names, durably.
func (r *rolled) nameAll(parts []mark) error {
	for _, m := range parts {
		if err := r.name(m.Number); err != nil {
			return err
		}
		if len(r.done) > 0 && r.done[0].Number == m.Number {
			r.done = r.done[1:] // both are in the order of their numbers
		}
	}
	return r.syncNames()
}

// name gives a finished part its name.
func (r *rolled) name(number int) error {
	hidden := r.pattern.hidden(number)
	switch _, err := r.cfg.fsys.Stat(hidden); {
	case errors.Is(err, fs.ErrNotExist):
		if slices.ContainsFunc(r.done, func(d mark) bool { return d.Number == number }) {
			return fmt.Errorf("%w: %s is gone", ErrChanged, hidden) // only this writer renames it, and has not yet
		}
		return nil
	case err != nil:
		return err
	}
	if err := r.free(number); err != nil {
		return err
	}
	if err := r.cfg.fsys.Rename(hidden, r.pattern.done(number)); err != nil {
		return err
	}
	r.names = true
	r.counts.done.Add(1)
	return nil
}

// abort cuts the part that was open back, and removes those that came after it.
func (r *rolled) abort() error {
	keep := r.kept.Open
	var errs []error
	for _, m := range r.done {
		if m.Number > keep.Number {
			errs = append(errs, r.cfg.fsys.Remove(r.pattern.hidden(m.Number)))
		} else if m.Number == keep.Number {
			errs = append(errs, r.cfg.fsys.Truncate(r.pattern.hidden(m.Number), keep.Size))
		}
	}
	r.done = nil
	if r.opened.Number == keep.Number {
		errs = append(errs, r.opened.body.Cut(keep.Size))
		r.opened.mark = keep
		return errors.Join(errs...)
	}
	errs = append(errs, r.removeOpen(r.opened))
	r.opened = nil
	return errors.Join(errs...)
}

// close ends the open part: at a clean end it gets its name, unless it has no record. An end without any record leaves
// one valid empty file, if that is wanted.
func (r *rolled) close(done bool) error {
	part := r.opened
	if part == nil {
		return nil
	}
	r.opened = nil
	empty := part.empty()
	if empty && (!done || !r.sealed || r.cfg.noEmpty || part.Number > 1) {
		return errors.Join(r.removeOpen(part), r.syncNames())
	}
	if !done {
		return part.body.Output().Close()
	}
	if err := part.body.Output().Sync(); err != nil {
		return errors.Join(err, part.body.Output().Close())
	}
	// The name comes before the lock is given back. Where a file that is open cannot be renamed, it is tried again.
	due := append(slices.Clone(r.done), part.mark)
	named := r.nameAll(due)
	if err := part.body.Output().Close(); err != nil {
		return err
	}
	if named != nil {
		named = r.nameAll(due)
	}
	return named
}
