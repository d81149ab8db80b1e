package checkpoint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCadenceHasDefaultsThatOptionsChange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts []Option
		want Cadence
	}{
		{"nothing set", nil, Cadence{Interval: 5 * time.Second, Records: 0, MaxOpen: 4}},
		{"interval", []Option{Every(time.Minute)}, Cadence{Interval: time.Minute, MaxOpen: 4}},
		{"records", []Option{EveryRecords(10)}, Cadence{Interval: 5 * time.Second, Records: 10, MaxOpen: 4}},
		{"time alone", []Option{EveryRecords(0)}, Cadence{Interval: 5 * time.Second, MaxOpen: 4}},
		{"open markers", []Option{MaxOpen(1)}, Cadence{Interval: 5 * time.Second, MaxOpen: 1}},
		{"the last one wins", []Option{Every(time.Hour), Every(time.Second)}, Cadence{Interval: time.Second, MaxOpen: 4}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := NewCadence(test.opts...)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestCadenceNamesEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts []Option
		want []string
	}{
		{"zero interval", []Option{Every(0)}, []string{"checkpoint: Every(0s): the interval must be above 0"}},
		{"negative interval", []Option{Every(-time.Second)}, []string{"Every(-1s)"}},
		{"negative records", []Option{EveryRecords(-1)}, []string{"EveryRecords(-1)"}},
		{"no open marker", []Option{MaxOpen(0)}, []string{"MaxOpen(0)"}},
		{"nil option", []Option{Every(time.Second), nil}, []string{"option 1 is nil"}},
		{"all of them", []Option{nil, Every(0), EveryRecords(-2), MaxOpen(-3)},
			[]string{"option 0 is nil", "Every(0s)", "EveryRecords(-2)", "MaxOpen(-3)"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := NewCadence(test.opts...)
			require.Zero(t, got)
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(test.want))
			for i, want := range test.want {
				require.Contains(t, lines[i], want)
			}
		})
	}
}

func TestDocsOfOptionsStateTheirDefaults(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "cadence.go", nil, parser.ParseComments)
	require.NoError(t, err)
	docs := map[string]string{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			docs[f.Name.Name] = f.Doc.Text()
		}
	}
	for name, value := range map[string]any{
		"Every": DefaultInterval, "EveryRecords": DefaultRecords, "MaxOpen": DefaultMaxOpen,
	} {
		require.Regexp(t, fmt.Sprintf(`Default: %v[.,]`, value), docs[name], name)
	}
}
