package filesink

import (
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// resume returns the place from which a file of size bytes goes on that a checkpoint ended at m.
func (c *common) resume(f fileconn.File, size int64, m mark) (mark, error) {
	same, err := fileconn.Matches(f, m.Mark)
	if err != nil {
		return m, err
	}
	if same {
		if cut := size - m.Size; cut > 0 {
			c.counts.cut.Add(cut)
			c.log(slog.LevelInfo, "cut what was written after the checkpoint", "file", f.Name(), "bytes", cut)
		}
		return m, nil
	}
	what := fmt.Sprintf("has other bytes than the %d of checkpoint %d", m.Size, c.env.From)
	if size < m.Size {
		what = fmt.Sprintf("has %d bytes, checkpoint %d has %d of it", size, c.env.From, m.Size)
	}
	if err := c.lossAllowed(what); err != nil {
		return m, err
	}
	whole, err := c.cutTorn(f, size)
	if err != nil {
		return m, err
	}
	lost := m.Size
	if size < m.Size {
		lost -= whole
	}
	c.lose(f.Name(), lost)
	return mark{Mark: fileconn.Mark{Size: whole}, Number: m.Number, Found: whole}, nil
}

// lossAllowed returns the error for a file that is not what the checkpoint says, unless the loss is allowed.
func (c *common) lossAllowed(what string) error {
	if c.cfg.allowLoss {
		return nil
	}
	if c.former != "" {
		what += fmt.Sprintf("; name the file %s in the sink, as the checkpoint has it", c.former)
	}
	return fmt.Errorf("%w: it %s; bring it back, or go on from what is there with AllowLoss()", ErrLoss, what)
}

// lose counts and logs what is missing.
func (c *common) lose(name string, bytes int64) {
	c.counts.lost.Add(bytes)
	c.log(slog.LevelWarn, "a file lost what a checkpoint says was written",
		"file", name, "bytes", bytes, "checkpoint", uint64(c.env.From))
}

// cutTorn returns how much of a file ends with a whole record, and counts what does not.
func (c *common) cutTorn(f fileconn.File, size int64) (int64, error) {
	whole, err := c.whole(f, size)
	if err != nil {
		return 0, fmt.Errorf("look for its last whole record: %w", err)
	}
	if torn := size - whole; torn > 0 {
		c.counts.torn.Add(torn)
		c.log(slog.LevelWarn, "a torn last record was cut off", "file", f.Name(), "bytes", torn, "offset", whole)
	}
	return whole, nil
}

func (c *common) whole(f io.ReaderAt, size int64) (int64, error) {
	switch {
	case c.cfg.packing != fileconn.PackNone:
		return fileconn.WholeMembers(f, size, c.cfg.packing)
	case c.cfg.binary:
		return size, nil
	case c.format.rows:
		return fileconn.WholeRows(f, size)
	}
	return fileconn.WholeLines(f, size)
}

// unused says whether a file holds nothing, or a part of what every file begins with: what a crash before the first
// record leaves, and nobody misses.
func (c *common) unused(f io.ReaderAt, size int64) (bool, error) {
	if size == 0 {
		return true, nil
	}
	if same, err := fileconn.IsPrefix(f, size, c.cfg.packing, c.format.header); err != nil || same {
		return same, err
	}
	// An archive that is torn within its first member.
	start, err := c.packer.Pack(c.format.header)
	if err != nil || size > int64(len(start)) {
		return false, err
	}
	found := make([]byte, size)
	if n, err := f.ReadAt(found, 0); n < len(found) {
		return false, err
	}
	return slices.Equal(found, start[:size]), nil
}

// behind returns the place from which a file goes on that is to be appended to.
func (c *common) behind(f fileconn.File, size int64) (mark, error) {
	same, err := fileconn.HasPrefix(f, size, c.cfg.packing, c.format.header)
	if err != nil {
		return mark{}, err
	}
	if !same {
		return mark{}, fmt.Errorf("%w: the file begins with another header", ErrMismatch)
	}
	whole, err := c.cutTorn(f, size)
	return mark{Mark: fileconn.Mark{Size: whole}, Found: whole}, err
}

// exists returns the error for files that are there at a start without a checkpoint.
func (c *common) exists(what string) error {
	why := "no checkpoint says"
	if c.env.From > 0 {
		why = fmt.Sprintf("checkpoint %d, which knows nothing of this sink, does not say", c.env.From)
	}
	return fmt.Errorf("%w: %s, and %s what of it to keep; go on behind it with Append(), start anew with Replace(), "+
		"or use another name", ErrExists, what, why)
}
