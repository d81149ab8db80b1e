package filesink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// folder is what is there of numbered files.
type folder struct {
	done, hidden []int // numbers, rising
}

// newest returns the greatest number of a part; 0 if there is none.
func (f folder) newest() int { return greatest(f.hidden) }

// last returns the greatest number of all.
func (f folder) last() int { return max(greatest(f.done), greatest(f.hidden)) }

func greatest(rising []int) int {
	if len(rising) == 0 {
		return 0
	}
	return rising[len(rising)-1]
}

func (r *rolled) open(t *token) error {
	if err := r.accepts(t, true); err != nil {
		return err
	}
	if err := r.makeDirs(); err != nil {
		return err
	}
	found, err := r.claim()
	switch {
	case err != nil:
	case t != nil:
		err = r.resumeParts(found, t)
	default:
		err = r.first(found)
	}
	if r.claimed != nil {
		err = errors.Join(err, r.claimed.Close())
		r.claimed = nil
	}
	if err != nil {
		return errors.Join(err, r.close(false))
	}
	r.kept = *r.token(true)
	return nil
}

// scan lists the numbered files.
func (r *rolled) scan() (folder, error) {
	entries, err := r.cfg.fsys.ReadDir(filepath.Dir(r.path))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: its folder is missing; MakeDirs() makes it", fs.ErrNotExist)
	}
	if err != nil {
		return folder{}, err
	}
	var f folder
	for _, e := range entries {
		switch n, hidden := r.pattern.number(e.Name()); {
		case n == 0:
		case hidden:
			f.hidden = append(f.hidden, n)
		default:
			f.done = append(f.done, n)
		}
	}
	slices.Sort(f.done)
	slices.Sort(f.hidden)
	return f, nil
}

// claim lists the numbered files and takes the lock of the newest part. A writer that is alive holds that lock, and takes
// the next part's before it lets go: so if there is no newer part now, none is alive.
func (r *rolled) claim() (folder, error) {
	before, err := r.scan()
	if err != nil || len(before.hidden) == 0 {
		return before, err
	}
	r.claimed, _, err = r.openFile(r.pattern.hidden(before.newest()), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{}, ErrInUse
	}
	if err != nil {
		return folder{}, err
	}
	now, err := r.scan()
	if err == nil && !slices.Equal(now.hidden, before.hidden) {
		err = ErrInUse
	}
	return now, err
}

// first begins without a checkpoint.
func (r *rolled) first(found folder) error {
	number := 1
	var err error
	switch {
	case r.origin.known:
		number = r.origin.number
		err = r.removeHidden(found, func(n int) bool { return n >= number })
	default:
		number, err = r.anew(found)
	}
	if err != nil {
		return err
	}
	if err := r.start(number); err != nil {
		return err
	}
	*r.origin = origin{known: true, number: number}
	return nil
}

// anew decides what to do with what is there, and returns the number to begin with.
func (r *rolled) anew(found folder) (int, error) {
	empty, err := r.unusedParts(found)
	if err != nil {
		return 0, err
	}
	isEmpty := func(n int) bool { return slices.Contains(empty, n) }
	switch {
	case r.cfg.replace:
		for _, n := range found.done {
			if err := r.cfg.fsys.Remove(r.pattern.done(n)); err != nil {
				return 0, err
			}
		}
		return 1, r.removeHidden(found, func(int) bool { return true })
	case r.cfg.append:
		if err := r.removeHidden(found, isEmpty); err != nil {
			return 0, err
		}
		for _, n := range found.hidden {
			if isEmpty(n) {
				continue
			}
			if err := r.recover(n); err != nil {
				return 0, err
			}
		}
		return found.last() + 1, r.syncNames()
	case len(found.done) > 0:
		return 0, r.exists(r.pattern.done(found.done[0]) + " is there")
	case len(found.hidden) > len(empty):
		return 0, r.exists(r.pattern.hidden(found.hidden[0]) + " is there, which a run that crashed left")
	}
	return 1, r.removeHidden(found, isEmpty)
}

// unusedParts returns the numbers of parts that hold no record.
func (r *rolled) unusedParts(found folder) ([]int, error) {
	var empty []int
	for _, n := range found.hidden {
		var unused bool
		err := r.withPart(n, func(f fileconn.File, size int64) (err error) {
			unused, err = r.unused(f, size)
			return err
		})
		if err != nil {
			return nil, err
		}
		if unused {
			empty = append(empty, n)
		}
	}
	return empty, nil
}

// withPart opens a part that nobody writes.
func (r *rolled) withPart(number int, do func(f fileconn.File, size int64) error) error {
	f, err := r.cfg.fsys.OpenFile(r.pattern.hidden(number), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = do(f, info.Size())
	}
	return errors.Join(err, f.Close())
}

// recover gives a part that a crash left its name, without its torn end. One that holds nothing else is removed.
func (r *rolled) recover(number int) error {
	var whole int64
	err := r.withPart(number, func(f fileconn.File, size int64) (err error) {
		if whole, err = r.cutTorn(f, size); err != nil {
			return err
		}
		return r.shorten(f, size, whole)
	})
	switch {
	case err != nil:
		return err
	case whole == 0:
		return r.cfg.fsys.Remove(r.pattern.hidden(number))
	}
	return r.name(number)
}

// shorten cuts a part that is not written any more.
func (r *rolled) shorten(f fileconn.File, size, whole int64) error {
	if whole < size {
		if err := f.Truncate(whole); err != nil {
			return err
		}
	}
	return f.Sync()
}

func (r *rolled) removeHidden(found folder, which func(int) bool) error {
	for _, n := range found.hidden {
		if which(n) {
			if err := r.cfg.fsys.Remove(r.pattern.hidden(n)); err != nil {
				return err
			}
			r.names = true
		}
	}
	return nil
}

// resumeParts goes on where a checkpoint ended: it finishes what the checkpoint says is finished, goes on with the part
// that was open, and removes what was begun later.
func (r *rolled) resumeParts(found folder, t *token) error {
	if last := greatest(found.done); last > t.Open.Number {
		return fmt.Errorf("%w: %s, but checkpoint %d ends with number %d; move it away",
			ErrExists, r.pattern.done(last), r.env.From, t.Open.Number)
	}
	if err := r.leftBehind(found, t); err != nil {
		return err
	}
	for _, m := range t.Done {
		if slices.Contains(found.hidden, m.Number) {
			if err := r.check(m); err != nil {
				return err
			}
		}
	}
	if slices.Contains(found.hidden, t.Open.Number) {
		if err := r.goOn(found, t.Open); err != nil {
			return err
		}
	}
	if err := r.removeHidden(found, func(n int) bool { return n > t.Open.Number }); err != nil {
		return err
	}
	if r.opened == nil {
		// The part got its name at a clean end, and was perhaps taken away since.
		next := t.Open.Number
		if !t.Open.empty() || slices.Contains(found.done, next) {
			next++
		}
		if err := r.start(next); err != nil {
			return err
		}
	}
	return r.commit(t)
}

// leftBehind refuses to go on under another name than that of the checkpoint while parts of the checkpoint are there
// under the old one: they would never get their names.
func (r *rolled) leftBehind(found folder, t *token) error {
	if r.former == "" {
		return nil
	}
	old, err := parsePattern(r.former)
	if err != nil {
		return err
	}
	for _, m := range append(slices.Clone(t.Done), t.Open) {
		name := old.hidden(m.Number)
		if _, err := r.cfg.fsys.Stat(name); err != nil || m.empty() || slices.Contains(found.hidden, m.Number) {
			continue
		}
		if err := r.lossAllowed(fmt.Sprintf("is still %s at checkpoint %d", name, r.env.From)); err != nil {
			return err
		}
		r.lose(name, m.Size)
	}
	return nil
}

// check looks whether a finished part is what the checkpoint says.
func (r *rolled) check(m mark) error {
	return r.withPart(m.Number, func(f fileconn.File, size int64) error {
		kept, err := r.resume(f, size, m)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		return r.shorten(f, size, kept.Size)
	})
}

// goOn opens the part that was open at the checkpoint.
func (r *rolled) goOn(found folder, m mark) error {
	f, err := r.reopen(found, m.Number)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && m.empty() && info.Size() < m.Size {
		m = mark{Number: m.Number} // nothing is lost but the header
	}
	if err == nil {
		m, err = r.resume(f, info.Size(), m)
	}
	if err == nil {
		r.opened, err = r.newPart(f, m)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", f.Name(), err), f.Close())
	}
	return r.free(m.Number)
}

// reopen opens a part to be written: the one that is claimed, if it is that.
func (r *rolled) reopen(found folder, number int) (fileconn.File, error) {
	if number == found.newest() {
		f := r.claimed
		r.claimed = nil
		return f, nil
	}
	f, _, err := r.openFile(r.pattern.hidden(number), 0)
	return f, err
}
