package filesink

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// pattern is the name of numbered files.
type pattern struct {
	dir, prefix, suffix string
	width               int
}

const (
	hiddenPrefix = "."
	hiddenSuffix = ".part"
)

// parsePattern reads a path whose last element has one verb, %d or %05d.
func parsePattern(path string) (pattern, error) {
	verb := regexp.MustCompile(`%(?:0([0-9]+))?d`)
	dir, base := filepath.Split(path)
	found := verb.FindAllStringSubmatchIndex(base, -1)
	if len(found) != 1 {
		return pattern{}, errors.New("files that roll need a name with one verb for their number, as in out-%05d.ndjson")
	}
	at := found[0]
	p := pattern{dir: dir, prefix: base[:at[0]], suffix: base[at[1]:]}
	if at[2] >= 0 {
		width, err := strconv.Atoi(base[at[2]:at[3]])
		if err != nil || width > 18 {
			return pattern{}, errors.New("the number in the name has more than 18 digits")
		}
		p.width = width
	}
	return p, nil
}

// done returns the name of a finished file.
func (p pattern) done(number int) string { return p.dir + p.base(number) }

// hidden returns the name that the file has before that.
func (p pattern) hidden(number int) string {
	return p.dir + hiddenPrefix + p.base(number) + hiddenSuffix
}

func (p pattern) base(number int) string {
	return fmt.Sprintf("%s%0*d%s", p.prefix, p.width, number, p.suffix)
}

// number returns the number of the file that has a name in the folder; 0 if it has none.
func (p pattern) number(name string) (number int, hidden bool) {
	if inner, ok := strings.CutSuffix(name, hiddenSuffix); ok && strings.HasPrefix(inner, hiddenPrefix) {
		if n := p.parse(inner[len(hiddenPrefix):]); n > 0 {
			return n, true
		}
	}
	return p.parse(name), false
}

func (p pattern) parse(name string) int {
	digits, ok := strings.CutPrefix(name, p.prefix)
	if !ok {
		return 0
	}
	if digits, ok = strings.CutSuffix(digits, p.suffix); !ok {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || p.base(n) != name {
		return 0
	}
	return n
}
