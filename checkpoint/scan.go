package checkpoint

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Names in the folder. A checkpoint is its number and storedSuffix; tempSuffix behind that is one being written, and
// asideMark and the number of the rewind behind it one set aside. Whatever else lies in the folder is not touched.
const (
	storedSuffix = ".checkpoint"
	tempSuffix   = ".tmp"
	asideMark    = ".aside-"
	numberDigits = 20 // of the greatest 64-bit number, so that names sort as numbers do
)

func storedName(n Number) string {
	return fmt.Sprintf("%0*d%s", numberDigits, uint64(n), storedSuffix)
}

func asideName(n Number, rewind int) string {
	return storedName(n) + asideMark + strconv.Itoa(rewind)
}

// parseStored returns the number in the name of a checkpoint.
func parseStored(name string) (Number, bool) {
	digits, ok := strings.CutSuffix(name, storedSuffix)
	if !ok || len(digits) != numberDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return Number(n), err == nil && n > 0
}

// asideFile is a checkpoint that a rewind set aside.
type asideFile struct {
	name   string
	number Number
	rewind int
}

func parseAside(name string) (asideFile, bool) {
	front, back, _ := strings.Cut(name, asideMark)
	n, ok := parseStored(front)
	rewind, err := strconv.Atoi(back)
	return asideFile{name: name, number: n, rewind: rewind}, ok && err == nil && rewind > 0
}

// listing is what a folder holds, by name alone.
type listing struct {
	stored []Number // ascending
	aside  []asideFile
	temps  []string
}

// names returns the names of the files, those of checkpoints last and oldest first.
func (l listing) names() []string {
	names := slices.Clone(l.temps)
	for _, a := range l.aside {
		names = append(names, a.name)
	}
	for _, n := range l.stored {
		names = append(names, storedName(n))
	}
	return names
}

func list(files fs.FS) (listing, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return listing{}, err
	}
	var l listing
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		if n, ok := parseStored(e.Name()); ok {
			l.stored = append(l.stored, n)
		} else if a, ok := parseAside(e.Name()); ok {
			l.aside = append(l.aside, a)
		} else if n, ok := strings.CutSuffix(e.Name(), tempSuffix); ok {
			if _, ok := parseStored(n); ok {
				l.temps = append(l.temps, e.Name())
			}
		}
	}
	slices.Sort(l.stored)
	slices.SortFunc(l.aside, func(a, b asideFile) int {
		return cmp.Or(cmp.Compare(a.rewind, b.rewind), cmp.Compare(a.number, b.number))
	})
	return l, nil
}
