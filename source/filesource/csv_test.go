package filesource

import (
	"encoding/csv"
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestCSVRowsAreThoseOfRFC4180(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		opts          []CSVOption
		want          [][]string
		offsets       []int64
	}{
		{"plain", "a,b\n1,2\n", nil, [][]string{{"a", "b"}, {"1", "2"}}, []int64{0, 4}},
		{"no line feed at the end", "a,b\n1,2", nil, [][]string{{"a", "b"}, {"1", "2"}}, []int64{0, 4}},
		{"empty fields", ",\n,\n", nil, [][]string{{"", ""}, {"", ""}}, []int64{0, 2}},
		{"quoted", "\"a\",\"b\"\"c\"\n\"\",\"\"\n", nil, [][]string{{"a", `b"c`}, {"", ""}}, []int64{0, 11}},
		{"line feeds in quotes", "a,\"b\nc\"\nd,\"\n\n\"\n", nil, [][]string{{"a", "b\nc"}, {"d", "\n\n"}}, []int64{0, 8}},
		{"CR LF, in quotes too", "a,\"b\r\nc\"\r\nd,e\r\n", nil, [][]string{{"a", "b\nc"}, {"d", "e"}}, []int64{0, 10}},
		{"CR alone", "a\rb,\"c\rd\"\n", nil, [][]string{{"a\rb", "c\rd"}}, []int64{0}},
		{"commas in quotes", "\"a,b\",c\n", nil, [][]string{{"a,b", "c"}}, []int64{0}},
		{"comma before the line end", "\"a\",\nb,\n", nil, [][]string{{"a", ""}, {"b", ""}}, []int64{0, 5}},
		{"empty lines", "\n\na\n\r\nb\n\n", nil, [][]string{{"a"}, {"b"}}, []int64{2, 6}},
		{"byte order mark", "\xef\xbb\xbf\"a\",b\n", nil, [][]string{{"a", "b"}}, []int64{3}},
		{"semicolon", "a;b\n\"1;\";2\n", []CSVOption{Comma(';')}, [][]string{{"a", "b"}, {"1;", "2"}}, []int64{0, 4}},
		{"comment", "#x\na,b\n#\"\n1,2\n", []CSVOption{Comment('#')}, [][]string{{"a", "b"}, {"1", "2"}}, []int64{3, 10}},
		{"skipped header", "a,b\n1,2\n", []CSVOption{SkipHeader()}, [][]string{{"1", "2"}}, []int64{4}},
		{"variable fields", "a\n1,2\n", []CSVOption{VariableFields()}, [][]string{{"a"}, {"1", "2"}}, []int64{0, 2}},
		{"lazy quotes", "a \"b\",\"c\"d\"\n", []CSVOption{LazyQuotes()}, [][]string{{`a "b"`, `c"d`}}, []int64{0}},
		{"lazy quote at the end", "a,\"b", []CSVOption{LazyQuotes()}, [][]string{{"a", "b"}}, []int64{0}},
		{"nothing", "", []CSVOption{SkipHeader()}, nil, nil},
		{"a header alone", "a,b\n", []CSVOption{SkipHeader()}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, CSVRows("f", append(c.opts, on(memWith(t, map[string]string{"f": c.content})))...), nil)
			require.Equal(t, c.want, r.values)
			require.Empty(t, r.failed)
			var offsets []int64
			for _, o := range r.origins {
				offsets = append(offsets, o.Offset)
			}
			require.Equal(t, c.offsets, offsets)
		})
	}
}

func TestBadCSVRecordFailsAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		opts          []CSVOption
		want          [][]string
		errs          []error
		at            []RecordError
	}{
		{
			"quote inside a field", "a,b\nx\"y,2\n3,4\n", nil, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrBareQuote}, []RecordError{{"f", 2, 4, 5, nil}},
		},
		{
			"text behind a quoted field", "a,b\n\"x\"y,2\n3,4\n", nil, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrQuote}, []RecordError{{"f", 2, 4, 6, nil}},
		},
		{
			"bad on its second line", "a,b\n\"x\ny\"z,2\n3,4\n", nil, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrQuote}, []RecordError{{"f", 2, 4, 8, nil}},
		},
		{
			"quote that is not closed", "a,b\n\"x,2\n3,4\n5,6\n", nil, [][]string{{"a", "b"}, {"3", "4"}, {"5", "6"}},
			[]error{ErrQuote}, []RecordError{{"f", 2, 4, 4, nil}},
		},
		{
			"lazy quote that is not closed", "a,b\n\"x,2\n3,4\n", []CSVOption{LazyQuotes()}, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrQuote}, []RecordError{{"f", 2, 4, 4, nil}},
		},
		{
			"quote that is not closed at the end", "a,b\n1,\"x", nil, [][]string{{"a", "b"}},
			[]error{ErrQuote}, []RecordError{{"f", 2, 4, 4, nil}},
		},
		{
			"fields missing or too many", "a,b\n1\n1,2,3\n4,5\n", nil, [][]string{{"a", "b"}, {"4", "5"}},
			[]error{ErrFieldCount, ErrFieldCount}, []RecordError{{"f", 2, 4, 1, nil}, {"f", 3, 6, 5, nil}},
		},
		{
			"a bad first record", "a\"\n1,2\n3\n", nil, [][]string{{"1", "2"}},
			[]error{ErrBareQuote, ErrFieldCount}, []RecordError{{"f", 1, 0, 2, nil}, {"f", 3, 7, 1, nil}},
		},
		{
			"lines are counted within records", "a,b\n\"1\n\n\",2\n3\n", nil, [][]string{{"a", "b"}, {"1\n\n", "2"}},
			[]error{ErrFieldCount}, []RecordError{{"f", 5, 12, 1, nil}},
		},
		{
			"too long", "a,b\n1,\"123456\n7890\"\n3,4\n", []CSVOption{MaxLineBytes(10)}, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrTooLong}, []RecordError{{"f", 2, 4, 15, nil}},
		},
		{
			"nothing but NUL", "a,b\n\x00\x00\n3,4\n", nil, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrNUL}, []RecordError{{"f", 2, 4, 2, nil}},
		},
		{
			"not UTF-8", "a,b\n\xff,2\n3,4\n", []CSVOption{RequireUTF8()}, [][]string{{"a", "b"}, {"3", "4"}},
			[]error{ErrUTF8}, []RecordError{{"f", 2, 4, 3, nil}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, CSVRows("f", append(c.opts, on(memWith(t, map[string]string{"f": c.content})))...), nil)
			require.Equal(t, c.want, r.values)
			errs, at := causes(r.failed)
			require.Len(t, errs, len(c.errs))
			for i, err := range c.errs {
				require.ErrorIs(t, errs[i], err)
			}
			require.Equal(t, c.at, at)
		})
	}
}

func TestCSVRecordBeyondTheLimitEndsAtItsFirstLine(t *testing.T) {
	t.Parallel()
	content := "a,b\n1,\"" + strings.Repeat("x\n", blockBytes) + "\",2\n" // its quote may be a wrong one: it is not known
	r := readAll(t, CSVRows("f", on(memWith(t, map[string]string{"f": content})), MaxLineBytes(1000), VariableFields()), nil)
	require.Equal(t, []string{"x"}, r.values[1])
	errs, at := causes(r.failed)
	require.Equal(t, ErrTooLong, errs[0])
	require.Equal(t, RecordError{"f", 2, 4, 4, nil}, at[0])
}

type embedded struct {
	Inner string
}

type cells struct {
	Text     string         `csv:"text"`
	Int      int            `csv:"int"`
	Small    int8           `csv:"small"`
	Unsigned uint           `csv:"unsigned"`
	Float    float64        `csv:"float"`
	Bool     bool           `csv:"bool"`
	Time     time.Time      `csv:"time"`
	Day      time.Time      `csv:"day,layout=2 Jan, 2006"`
	Wait     time.Duration  `csv:"wait"`
	Address  netip.Addr     `csv:"address"`
	Bytes    []byte         `csv:"bytes"`
	Pointer  *int           `csv:"pointer"`
	Maybe    *time.Time     `csv:"maybe"`
	Or0      int            `csv:"or0,omitempty"`
	Absent   string         `csv:"absent,optional"`
	Ignored  map[string]int `csv:"-"`
	NoTag    string
	hidden   string
	embedded
}

const cellHeader = "text,int,small,unsigned,float,bool,time,day,wait,address,bytes,pointer,maybe,or0,notag,INNER,extra\n"

func TestCSVFillsStructs(t *testing.T) {
	t.Parallel()
	content := cellHeader +
		"\"a \"\"b\"\"\",-5,127,7,1.5e3,true,2024-02-29T10:00:00+02:00,\"3 Feb, 2024\",1h30m,10.0.0.1,xyz,8,2024-02-29,9,plain,in,?\n" +
		",0,0,0,0,0,2024-02-29 10:00:00,\"1 Jan, 2000\",0s,::1,,,,,,,\n"
	r := readAll(t, CSV[cells]("f", on(memWith(t, map[string]string{"f": content}))), nil)
	eight, day := 8, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	require.Empty(t, r.failed)
	require.Len(t, r.values, 2)
	first := r.values[0]
	require.True(t, first.Time.Equal(time.Date(2024, 2, 29, 8, 0, 0, 0, time.UTC)))
	first.Time = time.Time{}
	require.Equal(t, cells{
		Text: `a "b"`, Int: -5, Small: 127, Unsigned: 7, Float: 1500, Bool: true,
		Day: time.Date(2024, 2, 3, 0, 0, 0, 0, time.UTC), Wait: 90 * time.Minute, Address: netip.MustParseAddr("10.0.0.1"),
		Bytes: []byte("xyz"), Pointer: &eight, Maybe: &day, Or0: 9, NoTag: "plain", embedded: embedded{"in"},
	}, first)
	second := r.values[1]
	require.Equal(t, time.Date(2024, 2, 29, 10, 0, 0, 0, time.UTC), second.Time)
	require.Nil(t, second.Pointer)
	require.Nil(t, second.Maybe)
	require.Zero(t, second.Or0)
	require.Empty(t, second.hidden)
}

func TestCSVCellThatDoesNotFitNamesItsColumn(t *testing.T) {
	t.Parallel()
	good := []string{"a", "1", "1", "1", "1", "true", "2024-01-01", "1 Jan, 2000", "1s", "::1", "", "", "", "", "", "", ""}
	for _, c := range []struct {
		column     int
		cell, text string
	}{
		{1, "secret", `column "int": not an integer`},
		{1, "", `column "int": empty, and neither a pointer nor omitempty`},
		{2, "128", `column "small": out of range`},
		{3, "-1", `column "unsigned": not an unsigned integer`},
		{4, "x", `column "float": not a number`},
		{5, "yes", `column "bool": not a boolean`},
		{6, "yesterday", `column "time": not a time`},
		{7, "2000-01-01", `column "day": not a time of the layout`},
		{8, "1", `column "wait": not a duration`},
		{9, "x", `column "address": ParseAddr`},
		{11, "x", `column "pointer": not an integer`},
	} {
		row := append([]string{}, good...)
		row[c.column] = c.cell
		var b strings.Builder
		w := csv.NewWriter(&b)
		require.NoError(t, w.WriteAll([][]string{good, row, good}))
		r := readAll(t, CSV[cells]("f", on(memWith(t, map[string]string{"f": cellHeader + b.String()}))), nil)
		require.Len(t, r.values, 2, c.text)
		errs, at := causes(r.failed)
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], c.text)
		require.NotContains(t, errs[0].Error(), "secret")
		require.EqualValues(t, 3, at[0].Line)
		require.Contains(t, string(r.failed[0].Value.([]byte)), c.cell)
	}
}

func TestCSVHeaderThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	type pair struct {
		A string `csv:"a"`
		B string
	}
	for _, c := range []struct {
		name, content, text string
		opts                []CSVOption
	}{
		{"missing", "x,y\n", `missing ["a" "B"]`, nil},
		{"tags are exact", "A,b\n", `missing ["a"]`, nil},
		{"twice", "a,b,a\n", `2 columns are named "a"`, nil},
		{"unknown", "a,b,c,d\n", `no field for ["c" "d"]`, []CSVOption{ExactColumns()}},
	} {
		r := open(t, CSV[pair]("f", append(c.opts, on(memWith(t, map[string]string{"f": c.content + "1,2,3,4\n"})))...), nil)
		err := r.all()
		require.ErrorIs(t, err, ErrColumns, c.name)
		require.ErrorContains(t, err, c.text, c.name)
	}
	r := open(t, CSV[pair]("f", on(memWith(t, map[string]string{"f": "a,\"b\nc"}))), nil)
	require.ErrorIs(t, r.all(), ErrQuote)
}

func TestCSVOfTypesThatCannotHoldARecordIsAMistake(t *testing.T) {
	t.Parallel()
	type channel struct{ C chan int }
	type option struct {
		A int `csv:"a,wrong"`
	}
	type layout struct {
		A int `csv:"a,layout=2006"`
	}
	for _, err := range []error{
		CSV[int]("f").Validate(), CSV[struct{ a int }]("f").Validate(), CSV[channel]("f").Validate(),
		CSV[option]("f").Validate(), CSV[layout]("f").Validate(), CSV[embedded]("f", SkipHeader()).Validate(),
		CSVRows("f", ExactColumns()).Validate(), CSVRows("f", Comma('"')).Validate(), CSVRows("f", Comma('§')).Validate(),
		CSVRows("f", Comment(',')).Validate(), CSVRows("f", nil).Validate(), Lines("f", nil).Validate(),
		Decode[int]("f", nil).Validate(), Lines("[").Validate(),
	} {
		require.Error(t, err)
	}
	require.NoError(t, CSV[cells]("f").Validate())
	require.NoError(t, CSV[map[string]string]("f").Validate())
}

func TestCSVReadsMaps(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "a,b\n1,2\n3\n"})
	r := readAll(t, CSV[map[string]string]("f", on(m), VariableFields()), nil)
	require.Equal(t, []map[string]string{{"a": "1", "b": "2"}, {"a": "3", "b": ""}}, r.values)
	bad := open(t, CSV[map[string]string]("g", on(memWith(t, map[string]string{"g": "a,a\n"}))), nil)
	require.ErrorIs(t, bad.all(), ErrColumns)
}

func TestCSVGoesOnBehindItsHeader(t *testing.T) {
	t.Parallel()
	type row struct{ ID, Name string }
	var b strings.Builder
	b.WriteString("\xef\xbb\xbf# made by hand\nname,id\n")
	for range 500 {
		b.WriteString("\"a\nb\",7\n")
	}
	m := faultfs.NewMem()
	put(t, m, "plain", []byte(b.String()))
	half := b.Len() / 2
	put(t, m, "gzip", pack(t, fileconn.PackGzip, b.String()[:half], b.String()[half:]))
	for _, path := range []string{"plain", "gzip"} {
		whole := readAll(t, CSV[row](path, on(m), Comment('#')), nil)
		require.Len(t, whole.values, 500)
		rest := 0
		for _, pos := range whole.behind {
			r := readAll(t, CSV[row](path, on(m), Comment('#')), pos)
			rest = len(r.values)
			for _, v := range r.values {
				require.Equal(t, row{"7", "a\nb"}, v)
			}
			require.Equal(t, whole.origins[500-rest:], append(whole.origins[:0:0], r.origins...))
		}
		require.Zero(t, rest)
	}
}

func TestCSVFileThatWasEmptyGetsItsHeaderLater(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"", "\xef\xbb\xbf", "id,name"} {
		m := memWith(t, map[string]string{"f": start})
		type row struct{ ID, Name string }
		r := readAll(t, CSV[row]("f", on(m)), nil)
		require.Empty(t, r.values)
		add(t, m, "f", strings.TrimPrefix("id,name\n1,2\n", strings.TrimPrefix(start, "\xef\xbb\xbf")))
		require.Equal(t, []row{{"1", "2"}}, readAll(t, CSV[row]("f", on(m)), r.pos).values)
	}
}

func TestRealCSVReadsLikeEncodingCSV(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"testdata/airports.csv", "testdata/birdstrikes.csv"} {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		want, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		r := readAll(t, CSVRows(path), nil)
		require.Equal(t, want, r.values)
	}
}

// FuzzCSV compares with encoding/csv up to the first error, whatever the size of the pieces that are read.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "\"a\nb\",\"c\"\"d\"\r\n\r\n#x\n", "a\"b\n", "\"a\"b,c\n", "\"a", "\"a\r", "a\r", "\"a\r\nb\"\r\nc\r\n", ",,\n,\"\"", "\"a\"\r",
		"\"\n\"\",\n\",x\n", "\"a\"\"", "a,\"b\" \n",
	} {
		f.Add(seed, false, 3)
		f.Add(seed, true, 1)
	}
	f.Fuzz(func(t *testing.T, text string, lazy bool, step int) {
		if strings.Contains(text, "\x00") || strings.HasPrefix(text, "\xef\xbb\xbf") {
			return // of no special meaning there
		}
		want, wantErr := encodingCSV(text, lazy)
		s := csvSplitter{comma: ',', comment: '#', lazy: lazy, limit: 1 << 20}
		got, err := splitInSteps(&s, text, max(1, step%64))
		if wantErr != nil {
			require.Error(t, err, "%q", text)
			require.Equal(t, want, got[:len(want)], "%q", text)
			return
		}
		if lazy && errors.Is(err, ErrQuote) {
			return // a quote that is not closed takes all the rest there
		}
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	})
}

func encodingCSV(text string, lazy bool) (rows [][]string, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.Comment, r.FieldsPerRecord = lazy, '#', -1
	rows = [][]string{}
	for {
		row, err := r.Read()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return rows, nil
			}
			return rows, err
		}
		rows = append(rows, row)
	}
}

// splitInSteps gives the splitter a little more of the text at a time.
func splitInSteps(s *csvSplitter, text string, step int) (rows [][]string, err error) {
	rows = [][]string{}
	start := 0
	for end := min(step, len(text)); ; end = min(end+step, len(text)) {
		in := input{data: []byte(text[start:end]), final: end == len(text)}
		start += s.split(in, 1<<20)
		for _, r := range s.records {
			rows = append(rows, csvText{text: string(in.data), fields: s.fields[r.firstField:r.endField]}.strings())
		}
		if len(s.bad) > 0 && err == nil {
			err = s.bad[0].err
		}
		if in.final && start == len(text) {
			return rows, err
		}
		if in.final {
			panic("the end was not taken")
		}
	}
}
