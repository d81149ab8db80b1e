package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

var errMissing = errors.New("file is missing")

// damage is what is wrong with the file of one checkpoint, as opposed to an error of the disk.
type damage struct {
	number Number
	err    error
}

func (d *damage) Error() string { return fmt.Sprintf("%s: %v", storedName(d.number), d.err) }

func (d *damage) Unwrap() error { return d.err }

// entry is a checkpoint of a folder as its header describes it.
type entry struct {
	link
	pipeline string
	// bad says why the header cannot be read; then base is 0.
	bad error
}

// readIndex reads the headers of the numbers, which ascend.
func readIndex(files fs.FS, numbers []Number) ([]entry, error) {
	index := make([]entry, 0, len(numbers))
	for _, n := range numbers {
		e, err := readEntry(files, n)
		if err != nil {
			return nil, err
		}
		index = append(index, e)
	}
	return index, nil
}

func readEntry(files fs.FS, n Number) (entry, error) {
	f, err := files.Open(storedName(n))
	if err != nil {
		return entry{}, err
	}
	defer f.Close()
	h, _, err := readHeader(f)
	var failed *readError
	if errors.As(err, &failed) {
		return entry{}, err
	}
	if err == nil {
		err = h.isNumber(n)
	}
	if err != nil {
		return entry{link: link{number: n}, bad: err}, nil
	}
	return entry{link: h.link, pipeline: h.pipeline}, nil
}

// isNumber returns an error if the file that is named for n holds another checkpoint.
func (h header) isNumber(n Number) error {
	if h.number != n {
		return fmt.Errorf("file holds checkpoint %d", h.number)
	}
	return nil
}

// readStored reads the file of n. A *damage tells a bad file from a failing disk.
func readStored(files fs.FS, n Number) (*stored, error) {
	data, err := fs.ReadFile(files, storedName(n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &damage{n, errMissing}
	}
	if err != nil {
		return nil, err
	}
	s, err := decodeFile(data)
	if err == nil {
		err = s.isNumber(n)
	}
	if err != nil {
		return nil, &damage{n, err}
	}
	return s, nil
}

// facts is what has to be known of a checkpoint to continue its chain.
type facts struct {
	link
	sum    uint32
	states map[string]bool
}

func (s *stored) facts() facts {
	return facts{link: s.link, sum: s.sum, states: stateNames(s.States)}
}

// follows returns an error unless s was made to continue the chain behind before.
func (s *stored) follows(before facts) error {
	if s.parent != before.number || s.base != before.base || s.parentSum != before.sum {
		return fmt.Errorf("does not continue the checkpoint %d that is there", before.number)
	}
	return builtOn(before.states, s.States)
}

// chainOf returns the numbers that n is read from, oldest first.
func chainOf(index []entry, n Number) ([]Number, error) {
	var numbers []Number
	for at := n; ; {
		i, ok := find(index, at)
		if !ok {
			return nil, &damage{at, errMissing}
		}
		if index[i].bad != nil {
			return nil, &damage{at, index[i].bad}
		}
		numbers = append(numbers, at)
		if index[i].starts() {
			slices.Reverse(numbers)
			return numbers, nil
		}
		at = index[i].parent
	}
}

func find(index []entry, n Number) (int, bool) {
	return slices.BinarySearchFunc(index, n, func(e entry, n Number) int { return cmp.Compare(e.number, n) })
}

// readChain reads n with full states.
func readChain(ctx context.Context, files fs.FS, index []entry, n Number) (*Checkpoint, facts, error) {
	numbers, err := chainOf(index, n)
	if err != nil {
		return nil, facts{}, err
	}
	var c Checkpoint
	var last facts
	for _, at := range numbers {
		if err := ctx.Err(); err != nil {
			return nil, facts{}, err
		}
		s, err := readStored(files, at)
		if err != nil {
			return nil, facts{}, err
		}
		if !s.starts() {
			err = s.follows(last)
		}
		if err != nil {
			return nil, facts{}, &damage{at, err}
		}
		states := merged(c.States, s.States)
		c, last = s.Checkpoint, s.facts()
		c.States = states
	}
	return &c, last, nil
}

// audit reads every file once, oldest first, and calls visit with what it holds, or why it cannot be read with all
// that it builds on. It ends early only if ctx ends.
func audit(ctx context.Context, files fs.FS, numbers []Number, visit func(Number, *stored, error)) error {
	intact := make(map[Number]facts, len(numbers))
	for _, n := range numbers {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := readStored(files, n)
		if err == nil {
			err = s.connects(intact)
		}
		if err == nil {
			intact[n] = s.facts()
		}
		visit(n, s, err)
	}
	return nil
}

// connects returns an error if s builds on something that is not intact.
func (s *stored) connects(intact map[Number]facts) error {
	if s.starts() {
		return nil
	}
	before, ok := intact[s.parent]
	if !ok {
		return &damage{s.number, fmt.Errorf("builds on checkpoint %d, which is missing or damaged", s.parent)}
	}
	if err := s.follows(before); err != nil {
		return &damage{s.number, err}
	}
	return nil
}
