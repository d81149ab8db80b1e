package disk

import (
	"errors"
	"os"
	"sync"
)

// files are the open files of messages: as many as may be, those that were used last.
type files struct {
	open opener
	most int

	mu    sync.Mutex
	all   map[string]*openedFile
	clock uint64
}

// openedFile is an open file and who uses it.
type openedFile struct {
	file
	users int
	used  uint64 // by the clock
}

// take returns an open file, made if it is not there. It is to be given back.
func (f *files) take(name string) (*openedFile, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.all[name]
	if o == nil {
		opened, err := f.open(name, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		o = &openedFile{file: opened}
		f.all[name] = o
		f.trim()
	}
	f.clock++
	o.users, o.used = o.users+1, f.clock
	return o, nil
}

// give gives a file back.
func (f *files) give(o *openedFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.users--
}

// trim closes the file that was not used for the longest, if there are too many.
func (f *files) trim() {
	if len(f.all) <= f.most {
		return
	}
	oldest := ""
	for name, o := range f.all {
		if o.users == 0 && o.used > 0 && (oldest == "" || o.used < f.all[oldest].used) {
			oldest = name
		}
	}
	if oldest != "" {
		_ = f.all[oldest].Close() // what was written is with the system
		delete(f.all, oldest)
	}
}

// forget closes a file that nobody uses.
func (f *files) forget(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.all[name]
	if o == nil {
		return nil
	}
	delete(f.all, name)
	return o.Close()
}

func (f *files) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var faults []error
	for _, o := range f.all {
		faults = append(faults, o.Close())
	}
	clear(f.all)
	return errors.Join(faults...)
}
