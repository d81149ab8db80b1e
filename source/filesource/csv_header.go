package filesource

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors about a header hold no more than this of the names of columns.
const (
	mostNames     = 10
	mostNameBytes = 60
)

// noHeader is the advice for a file whose first record may be data.
const noHeader = "if the file has no header, use CSVRows"

// missingColumns returns the error for columns that a header does not have. It holds nothing of the header, which is
// data if the file has none.
func missingColumns(missing, header []string) error {
	has := fmt.Sprintf("%d columns", len(header))
	advice := noHeader
	if len(header) == 1 {
		has = "1 column"
		if i := strings.IndexAny(header[0], ";\t"); i >= 0 {
			advice = fmt.Sprintf("it holds %q: if that stands between columns, use Comma(%q)", header[0][i], header[0][i])
		}
	}
	return fmt.Errorf("%w: missing %s; the header has %s; %s", ErrColumns, someNames(missing), has, advice)
}

// someNames returns names for an error: the first few, each up to a length, and how many more there are.
func someNames(names []string) string {
	shown := make([]string, 0, mostNames)
	for _, name := range names[:min(len(names), mostNames)] {
		shown = append(shown, shortName(name))
	}
	text := fmt.Sprintf("%q", shown)
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shortName cuts a name to a length, between two characters.
func shortName(name string) string {
	if len(name) <= mostNameBytes {
		return name
	}
	end := mostNameBytes
	for end > mostNameBytes-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}
