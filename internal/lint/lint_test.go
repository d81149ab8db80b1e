package lint

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the root of the tree that the rules are held against.
const repository = "../.."

// rules are those that look at the source of the whole tree.
var rules = []struct {
	name  string
	check func([]*file) []Fault
}{
	{"imports", checkImports},
	{"size", checkSize},
	{"comments", checkDocs},
	{"packages", checkPackages},
	{"state", checkState},
	{"format", checkFormat},
	{"words", checkComments},
	{"errors", checkErrors},
	{"sleep", checkSleep},
	{"examples", checkExamples},
	{"defaults", func(files []*file) []Fault {
		faults, _ := checkDefaults(files)
		return faults
	}},
}

func TestTreeKeepsTheRules(t *testing.T) {
	t.Parallel()
	files, err := load(repository)
	require.NoError(t, err)
	require.Greater(t, len(files), 100, "the tree was not found")
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range sorted(rule.check(files)) {
				t.Error(f)
			}
		})
	}
}

// sorted puts faults into the order of the tree.
func sorted(faults []Fault) []Fault {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return faults
}
