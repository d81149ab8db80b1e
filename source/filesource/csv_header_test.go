package filesource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type delay struct {
	Origin string
	Delay  int
}

// manyNames returns n long names of columns.
func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%05d", i) + strings.Repeat("é", 1000)
	}
	return names
}

func TestErrorAboutAHeaderHoldsNoData(t *testing.T) {
	t.Parallel()
	const missing = `columns do not fit: missing ["Origin" "Delay"]; the header has `
	for _, c := range []struct {
		name, content, text string
	}{
		{"no header", "alice,hunter2,4111\nbob,x,y\n", "line 1: " + missing + "3 columns; if the file has no header, use CSVRows"},
		{"one column", "hunter2\n", "line 1: " + missing + "1 column; if the file has no header, use CSVRows"},
		{"semicolons", "Origin;Delay\nhunter2;1\n", "line 1: " + missing + `1 column; it holds ';': if that stands between columns, use Comma(';')`},
		{"tabs", "Origin\tDelay\nhunter2\t1\n", "line 1: " + missing + `1 column; it holds '\t': if that stands between columns, use Comma('\t')`},
		{"below comments", "# made by hunter2\n\na,\"b\nc\"\n", "line 3: " + missing + "2 columns; if the file has no header, use CSVRows"},
		{"wide", strings.Join(manyNames(500), ",") + "\n", "line 1: " + missing + "500 columns; if the file has no header, use CSVRows"},
	} {
		err := open(t, CSV[delay]("f", Comment('#'), on(memWith(t, map[string]string{"f": c.content}))), nil).all()
		require.ErrorIs(t, err, ErrColumns, c.name)
		require.True(t, strings.HasSuffix(err.Error(), c.text), "%s: %v", c.name, err)
	}
	err := open(t, CSV[map[string]string]("f", on(memWith(t, map[string]string{"f": "x,hunter2,y,hunter2\n"}))), nil).all()
	require.ErrorIs(t, err, ErrColumns)
	require.ErrorContains(t, err, "line 1: columns do not fit: columns 2 and 4 have one name; if the file has no header, use CSVRows")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestHeaderIsNamedByItsLineAlsoBehindIt(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "a,b\n1,2\n"})
	r := readAll(t, CSVRows("f", SkipHeader(), on(m)), nil)
	add(t, m, "f", "3,4\n")
	err := open(t, CSV[delay]("f", on(m)), r.pos).all()
	require.ErrorIs(t, err, ErrColumns)
	require.ErrorContains(t, err, "filesource: f: at byte 8: line 1: columns do not fit: ")
}

func TestNamesInAnErrorAreFewAndShort(t *testing.T) {
	t.Parallel()
	names := append([]string{"Origin", "Delay"}, manyNames(500)...)
	m := memWith(t, map[string]string{"f": strings.Join(names, ",") + "\n"})
	err := open(t, CSV[delay]("f", ExactColumns(), on(m)), nil).all()
	require.ErrorIs(t, err, ErrColumns)
	require.ErrorContains(t, err, "line 1: columns do not fit: no field for [")
	require.ErrorContains(t, err, `"00000`+strings.Repeat("é", 27)+`" "00001`, "a name is cut between two characters")
	require.True(t, strings.HasSuffix(err.Error(), "] and 490 more"), "%v", err)
	require.Less(t, len(err.Error()), 1000)
	require.Equal(t, `["a" "b"]`, someNames([]string{"a", "b"}))
	require.LessOrEqual(t, len(shortName(strings.Repeat("\x80", 100))), mostNameBytes, "bytes that are no characters are cut too")
}

func TestEveryFieldThatCannotBeReadIsReported(t *testing.T) {
	t.Parallel()
	type inner struct {
		E complex128
	}
	type row struct {
		A chan int
		B int `csv:"b,wrong"`
		C int
		D int `csv:"d,layout=2006"`
		inner
	}
	err := CSV[row]("f").Validate()
	require.Len(t, mistakes(err), 4)
	for _, field := range []string{"row.A: ", "row.B: ", "row.D: ", "inner.E: "} {
		require.ErrorContains(t, err, field)
	}
}

func TestLayoutOfATagHasToBeOne(t *testing.T) {
	t.Parallel()
	type wrong struct {
		At time.Time `csv:"at,omitempty,layout=nonsense"`
	}
	type empty struct {
		At *time.Time `csv:"at,layout="`
	}
	type right struct {
		At time.Time `csv:"at,layout=02.01.2006, 15:04"`
	}
	require.ErrorContains(t, CSV[wrong]("f").Validate(), `wrong.At: "nonsense" is no layout of a time`)
	require.ErrorContains(t, CSV[empty]("f").Validate(), `empty.At: "" is no layout of a time`)
	require.NoError(t, CSV[right]("f").Validate())
}
