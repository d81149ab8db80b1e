package filesink

import (
	"context"
	"encoding/csv"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

// asStandard returns the row that encoding/csv writes.
func asStandard(t testing.TB, fields []string, comma rune, crlf bool) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = comma, crlf
	require.NoError(t, w.Write(fields))
	w.Flush()
	return b.String()
}

func TestRowsAreThoseOfTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, fields := range [][]string{
		{"a", "b"}, {"", ""}, {"a,b", "c"}, {"say \"hi\"", `"`, `""`, `"a`, `a"`}, {" leading", "trailing "}, {"\ttab"},
		{"line\nfeed", "carriage\rreturn", "both\r\n"}, {`\.`, `\.x`, `\`}, {"ünï¢ødé", "\u2028", "\u00a0hard space"},
		{"\xff\xfe", "\xc2"}, {";", "|"}, {"a;b"}, {"one"}, {strings.Repeat(`"`, 50)}, {strings.Repeat("x", 5000) + ","},
	} {
		for _, comma := range []rune{',', ';', '\t', '|', ' '} {
			cfg := defaultConfig()
			cfg.comma = comma
			got := string(newRowWriter(&cfg).row([]byte("before"), fields))
			require.Equal(t, "before"+asStandard(t, fields, comma, false), got, "%q by %q", fields, comma)
		}
	}
}

func TestARowOfOneEmptyFieldIsReadBack(t *testing.T) {
	t.Parallel()
	cfg := defaultConfig()
	row := newRowWriter(&cfg).row(nil, []string{""})
	got, err := csv.NewReader(strings.NewReader(string(row))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{{""}}, got, "encoding/csv writes an empty line, which it does not read")
}

func FuzzRowIsReadBack(f *testing.F) {
	for _, s := range []string{"a\x00b", "\"\x00,", "\n\x00\r", " x\x00", "\\.\x00", "", "\x00", "a,b;c\td\"e\"\x00\xff"} {
		f.Add(s, uint8(0), false)
		f.Add(s, uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, text string, which uint8, crlf bool) {
		comma := []rune{',', ';', '\t', '|'}[which%4]
		fields := strings.Split(text, "\x00")
		cfg := defaultConfig()
		cfg.comma, cfg.crlf = comma, crlf
		w := newRowWriter(&cfg)
		rows := w.row(w.row(nil, fields), fields)

		if !crlf && !(len(fields) == 1 && fields[0] == "") {
			require.Equal(t, strings.Repeat(asStandard(t, fields, comma, false), 2), string(rows))
		}
		r := csv.NewReader(strings.NewReader(string(rows)))
		r.Comma = comma
		got, err := r.ReadAll()
		require.NoError(t, err)
		want := make([]string, len(fields))
		for i, field := range fields {
			want[i] = strings.ReplaceAll(field, "\r\n", "\n") // the reader does that
		}
		require.Equal(t, [][]string{want, want}, got)
	})
}

// csvOf writes values to a file in memory and returns it.
func csvOf[T any](t *testing.T, values []T, opts ...CSVOption) string {
	t.Helper()
	mem := faultfs.NewMem()
	w := open(t, CSVOf[T]("o", append(opts, on(mem))...), runnel.SinkEnv{})
	write(t, w, values...)
	complete(t, w, 1)
	closed(t, w)
	return content(t, mem, "o")
}

type level int

func (l level) MarshalText() ([]byte, error) {
	if l < 0 {
		return nil, errors.New("level below zero")
	}
	return []byte("level " + strings.Repeat("I", int(l))), nil
}

type place struct {
	Lat, Lon float32
}

type event struct {
	Name    string `csv:"name"`
	Hidden  string `csv:"-"`
	Count   int64
	Ratio   float64 `csv:"ratio"`
	OK      bool
	Raw     []byte
	At      time.Time
	Took    time.Duration
	Level   level
	Addr    netip.Addr
	Maybe   *uint8
	Text    *string
	place   // embedded: its fields are columns, though its name is not exported
	private int
}

func TestStructsAreRowsWithTheColumnsOfTheirTags(t *testing.T) {
	t.Parallel()
	seven, text := uint8(7), "x,y"
	at := time.Date(2024, 2, 29, 12, 30, 0, 5, time.UTC)
	got := csvOf(t, []event{
		{
			Name: `a "b"`, Hidden: "h", Count: math.MinInt64, Ratio: 0.1, OK: true, Raw: []byte("r\n"), At: at, Took: time.Second,
			Level: 3, Addr: netip.MustParseAddr("::1"), Maybe: &seven, Text: &text, place: place{1.5, -2}, private: 1,
		},
		{At: at.Truncate(time.Second)},
	})
	require.Equal(t, "name,Count,ratio,OK,Raw,At,Took,Level,Addr,Maybe,Text,Lat,Lon\n"+
		`"a ""b""",-9223372036854775808,0.1,true,"r`+"\n"+`",2024-02-29T12:30:00.000000005Z,1s,level III,::1,7,"x,y",1.5,-2`+"\n"+
		",0,0,false,,2024-02-29T12:30:00Z,0s,level ,,,,0,0\n", got)
}

func TestStructsOfOneEmptyColumnAreReadBack(t *testing.T) {
	t.Parallel()
	require.Equal(t, "A\r\n\"\"\r\nx\r\n", csvOf(t, []struct{ A string }{{""}, {"x"}}, CRLF(), Comma(';')))
}

func TestTagsSayHowACellIsWritten(t *testing.T) {
	t.Parallel()
	type row struct {
		Day   time.Time  `csv:"day,layout=Jan 2, 2006"`
		Maybe *time.Time `csv:",omitempty,optional,layout=15:04"`
		Count int        `csv:"n,omitempty"`
	}
	at := time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)
	require.Equal(t, "day,Maybe,n\n\"Feb 29, 2024\",12:30,7\n\"Feb 29, 2024\",,\n", csvOf(t, []row{{at, &at, 7}, {Day: at}}))
}

func TestAStructThatCannotBeWrittenIsRefusedAlone(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	type row struct{ L level }
	w := open(t, CSVOf[row]("o", on(mem)), runnel.SinkEnv{})
	err := w.Write(context.Background(), batch(row{1}, row{-1}, row{2}))
	var e *runnel.BatchError[row]
	require.ErrorAs(t, err, &e)
	require.Equal(t, row{-1}, e.Failed[0].Value)
	require.EqualError(t, e.Errs[0], "filesink: o: record 2: column L: level below zero")
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, "L\nlevel I\nlevel II\n", content(t, mem, "o"))
}

func TestTypesThatHaveNoFormAsAColumnAreRefused(t *testing.T) {
	t.Parallel()
	type nested struct{ In struct{ X int } }
	type named struct {
		place `csv:"p"`
	}
	type inPointer struct {
		*place
		A int
	}
	require.ErrorContains(t, CSVOf[struct{ C chan int }]("o").Validate(), "field C of struct { C chan int }: type chan int has no form as a column")
	require.Error(t, CSVOf[nested]("o").Validate())
	require.Error(t, CSVOf[named]("o").Validate())
	require.Error(t, CSVOf[struct{ P *chan int }]("o").Validate())
	require.ErrorContains(t, CSVOf[struct {
		A int `csv:"x"`
		B int `csv:"x"`
	}]("o").Validate(), `two columns named "x"`)
	require.ErrorContains(t, CSVOf[struct {
		A int `csv:",whatever"`
	}]("o").Validate(), `no option "whatever"`)
	require.ErrorContains(t, CSVOf[struct {
		A int `csv:",layout=2006"`
	}]("o").Validate(), "int is no time")
	require.Error(t, CSVOf[struct{}]("o").Validate())
	require.NoError(t, CSVOf[inPointer]("o").Validate())
	require.Equal(t, "A\n1\n", csvOf(t, []inPointer{{A: 1}}), "what is within a pointer is left out")
}

func TestRowsOfAnotherWidthThanTheHeaderAreRefused(t *testing.T) {
	t.Parallel()
	for _, head := range [][]string{header, nil} {
		mem := faultfs.NewMem()
		w := open(t, CSV("o", head, func(v []string) []string { return v }, on(mem)), runnel.SinkEnv{})
		err := w.Write(context.Background(), batch([]string{"1", "2"}, []string{"1"}, []string{"1", "2", "3"}, nil))
		var e *runnel.BatchError[[]string]
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, ErrFields)
		want := map[bool]int{true: 1, false: 3}[head == nil]
		require.Len(t, e.Failed, want)
		closed(t, w)
	}
}
