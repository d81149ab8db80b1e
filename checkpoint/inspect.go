package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// inspectAttempts is how often a folder is read again because a run replaced everything meanwhile. It takes a run two
// new chains to do that, so a second attempt is rare.
const inspectAttempts = 5

// Info describes one file of a folder of [Dir].
type Info struct {
	// File is its name in the folder.
	File string
	// Number is the checkpoint in it.
	Number Number
	// Bytes is its size.
	Bytes int64
	// SetAside says that a rewind left it behind. Of such a file only File, Number and Bytes are given.
	SetAside bool
	// Damage is why it cannot be read, or not with all that its states build on; nil if it can.
	Damage error

	// What follows is what the file itself holds, and zero if that cannot be read.

	// Pipeline is the name of the pipeline that took it.
	Pipeline string
	// Taken is when its marker was opened.
	Taken time.Time
	// Base is the checkpoint that starts its chain: its own number if nothing else is needed to read it.
	Base Number
	// Shape lists the parts of the graph that it is bound to.
	Shape []string
	// Sources has the position of each source by its name.
	Sources map[string]Position
	// Tokens has the size in bytes of the token of each transactional sink by its name.
	Tokens map[string]int
	// States has the size of the snapshot of each stateful stage by its name.
	States map[string]StateInfo
}

// StateInfo is the size of one snapshot as it was saved.
type StateInfo struct {
	// Full says that Put counts every entry; otherwise it counts changes.
	Full bool
	// Put is how many entries are set.
	Put int
	// Deleted is how many entries are removed.
	Deleted int
	// Bytes is how much their keys and values hold together.
	Bytes int64
}

// Inspect reads every file of a folder of [Dir], oldest checkpoint first and what was set aside last. It changes
// nothing and takes no lease, so it works during a run; what that removes meanwhile is left out.
// A folder that does not exist is an error that is [fs.ErrNotExist].
func Inspect(ctx context.Context, path string) ([]Info, error) {
	if err := named("Inspect", path); err != nil {
		return nil, err
	}
	files, err := openExisting(path)
	if err != nil {
		return nil, err
	}
	infos, err := inspect(ctx, files)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: inspect %s: %w", path, err)
	}
	return infos, nil
}

func inspect(ctx context.Context, files fs.FS) ([]Info, error) {
	var infos []Info
	for range inspectAttempts {
		before, err := list(files)
		if err != nil {
			return nil, err
		}
		if infos, err = read(ctx, files, before); err != nil {
			return nil, err
		}
		after, err := list(files)
		if err != nil {
			return nil, err
		}
		// A run removes the newest file of a chain first: who is still there has its chain, or had it when it was read.
		there := after.names()
		infos = slices.DeleteFunc(infos, func(info Info) bool { return !slices.Contains(there, info.File) })
		if k := len(before.stored); k == 0 || slices.Contains(after.stored, before.stored[k-1]) {
			break
		}
	}
	return infos, nil
}

// read describes every checkpoint of a listing.
func read(ctx context.Context, files fs.FS, found listing) ([]Info, error) {
	var infos []Info
	err := audit(ctx, files, found.stored, func(n Number, s *stored, err error) {
		info := describe(s, err)
		info.File, info.Number, info.Bytes = storedName(n), n, size(files, storedName(n))
		infos = append(infos, info)
	})
	for _, a := range found.aside {
		infos = append(infos, Info{File: a.name, Number: a.number, Bytes: size(files, a.name), SetAside: true})
	}
	return infos, err
}

// size returns the size of a file, or 0 if that cannot be known because it is not there any more.
func size(files fs.FS, name string) int64 {
	info, err := fs.Stat(files, name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// describe tells what s holds, which is nil if it cannot be read.
func describe(s *stored, err error) Info {
	info := Info{Damage: cause(err)}
	if s == nil {
		return info
	}
	info.Pipeline, info.Taken, info.Base = s.Pipeline, s.Taken, s.base
	info.Shape, info.Sources = s.Shape, s.Sources
	info.Tokens = make(map[string]int, len(s.Sinks))
	for name, token := range s.Sinks {
		info.Tokens[name] = len(token)
	}
	info.States = make(map[string]StateInfo, len(s.States))
	for name, state := range s.States {
		info.States[name] = state.info()
	}
	return info
}

func (s State) info() StateInfo {
	info := StateInfo{Full: s.Full, Put: len(s.Put), Deleted: len(s.Deleted)}
	for key, value := range s.Put {
		info.Bytes += int64(len(key) + len(value))
	}
	for _, key := range s.Deleted {
		info.Bytes += int64(len(key))
	}
	return info
}

// cause returns what is wrong without the name of the file, which stands beside it.
func cause(err error) error {
	var d *damage
	if errors.As(err, &d) {
		return d.err
	}
	return err
}
