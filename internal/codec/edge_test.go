package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/codec"
)

func TestDecodedValueOutlivesItsText(t *testing.T) {
	t.Parallel()
	type target struct {
		Plain   string
		Long    string
		Wide    string
		Escaped string
		Raw     json.RawMessage
		Bytes   []byte
		Any     any
		List    []string
		Map     map[string]string
	}
	text := []byte(`{"Plain":"abc","Long":"abcdefghijklmnopqrstuvwxyz","Wide":"é","Escaped":"a\nb","Raw":[1],"Bytes":"aGk=",` +
		`"Any":{"k":"v"},"List":["x","y\t"],"Map":{"k":"v"}}`)
	var v target
	require.NoError(t, codec.Decoder[target]()(text, &v))
	for i := range text {
		text[i] = '#'
	}
	require.Equal(t, target{"abc", "abcdefghijklmnopqrstuvwxyz", "é", "a\nb", json.RawMessage("[1]"), []byte("hi"),
		map[string]any{"k": "v"}, []string{"x", "y\t"}, map[string]string{"k": "v"}}, v)
}

func TestDecoderLeavesNothingOfTheFormerValue(t *testing.T) {
	t.Parallel()
	decode := codec.Decoder[nested]()
	one := 1
	p := &one
	former := func() nested {
		return nested{A: &scalars{I: 1}, P: &p, S: []string{"x"}, M: map[string]int{"a": 1}, X: 1, K: "k"}
	}
	for name, text := range map[string]string{
		"read here": `{}`, "read by encoding/json": `null`, "escaped name": `{"\u0000":1}`, "fault": `{"k":1}`, "cut": `{"k":"x"`,
	} {
		v := former()
		err := decode([]byte(text), &v)
		require.Equal(t, name == "fault" || name == "cut", err != nil, name)
		require.Equal(t, nested{}, v, name)
	}
	kept := former()
	require.Equal(t, kept, former(), "the former value's own memory is not written to")
}

func TestSlicesOfTwoRecordsAreApart(t *testing.T) {
	t.Parallel()
	decode := codec.Decoder[[]int]()
	var slot []int
	require.NoError(t, decode([]byte(`[1,2,3]`), &slot))
	first := slot
	require.NoError(t, decode([]byte(`[7,8,9]`), &slot))
	require.Equal(t, []int{1, 2, 3}, first)
	require.Equal(t, []int{7, 8, 9}, slot)
}

func TestOneDecoderAndEncoderServeManyGoroutines(t *testing.T) {
	t.Parallel()
	flights, lines := sampleFlights(64)
	decode, encode := codec.Decoder[plainFlight](), codec.Encoder[plainFlight]()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, line := range lines {
				var f plainFlight
				if err := decode(line, &f); err != nil || f != flights[i] {
					t.Errorf("line %d: %+v %v", i, f, err)
				}
				if out, err := encode(nil, &f); err != nil || !bytes.Equal(out, line) {
					t.Errorf("line %d: %s %v", i, out, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestValuesWithoutJSONAreRefusedAsByEncodingJSON(t *testing.T) {
	t.Parallel()
	ring := &loop{S: "a"}
	ring.Next = ring
	late := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	odd1 := odd{F: func() {}}
	refuse(t, "NaN", &scalars{F64: math.NaN()})
	refuse(t, "infinity", &scalars{F32: float32(math.Inf(-1))})
	refuse(t, "ring", ring)
	refuse(t, "year beyond 9999", &late)
	refuse(t, "function", &odd1)
	refuse(t, "function left out", &odd{})
	refuse(t, "channel", &struct{ C chan int }{})
	refuse(t, "broken number", &nested{N: "1x"})
	refuse(t, "broken raw message", &nested{R: json.RawMessage("{")})
}

func refuse[T any](t *testing.T, name string, v *T) {
	t.Helper()
	_, want := json.Marshal(v)
	require.Error(t, want, name)
	out, err := codec.Encoder[T]()([]byte("before"), v)
	require.EqualError(t, err, want.Error(), name)
	require.Equal(t, "before", string(out), name)
}

func TestValuesAreWrittenAsByEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", `"\`, "\b\f\n\r\t\x00\x1f\x7f", "<a href='x'>&amp;</a>", "é€😀", "\xff", "a\xc3", "\u2028\u2029\ufffd", "\xed\xa0\x80"} {
		same(t, &s)
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 0.1, -1.5, 1e-5, 9.99e-6, 1e-6, 1e-7, 1e20, 123456789012345678, 1e21, 1e22, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		same(t, &f)
		g := float32(f)
		if !math.IsInf(float64(g), 0) {
			same(t, &g)
		}
	}
	now := time.Date(2001, 2, 3, 4, 5, 6, 789, time.FixedZone("x", 3600))
	i := math.MinInt
	p := &i
	same(t, &scalars{true, i, -128, -32768, math.MinInt32, math.MinInt64, math.MaxUint, 255, 65535, math.MaxUint32, math.MaxUint64, 0.1, 0.1, "s"})
	same(t, &nested{A: &scalars{}, L: []scalars{{}, {}}, P: &p, S: []string{}, M: map[string]int{"b": 1, "a": 2}, X: []any{1, "x"}, Y: []byte("hi"),
		T: now, TP: &now, H: 'h', K: "k", V: []nested{{}}, LL: [][]*float64{nil, {nil}}})
	same(t, &embedding{base{1, "k"}, Sub{"s", 2}, "n"})
	same(t, &folding{1, 2, 3, 4, 5, 6})
	same(t, &strangeTag{1})
	same(t, &quoted{1, "s"})
	same(t, &zeroes{})
	same(t, &byPointer{X: 1})
	same(t, &byPointer{Sub: &Sub{}})
	same(t, &unnamed{})
	same[*scalars](t, new(*scalars))
	same[any](t, new(any))
}

func same[T any](t *testing.T, v *T) {
	t.Helper()
	want, err := json.Marshal(v)
	require.NoError(t, err)
	out, err := codec.Encoder[T]()([]byte("> "), v)
	require.NoError(t, err)
	require.Equal(t, "> "+string(want), string(out))
}

func TestErrorsTellThePlaceButNotTheValue(t *testing.T) {
	t.Parallel()
	type target struct {
		Secret int `json:"secret"`
		In     struct {
			At time.Time `json:"at"`
		} `json:"in"`
		Shade shade `json:"shade"`
	}
	decode := codec.Decoder[target]()
	for text, want := range map[string]string{
		`{"secret":"hunter2"}`:              "json: string does not fit field secret of type int",
		`{"secret":1234567890123456789012}`: "json: number does not fit field secret of type int",
		`[]`:                                "json: array does not fit type codec_test.target",
		`{"secret":1`:                       "json: unexpected end of JSON input",
		`{"secret":1}hunter2`:               "json: invalid character 'h' after top-level value",
		`{"in":{"at":"hunter2"}}`:           "json: a time is not of the form 2006-01-02T15:04:05Z07:00",
		`{"shade":"hunter2"}`:               "json: a value is refused by its type",
	} {
		var v target
		err := decode([]byte(text), &v)
		require.Error(t, err, text)
		told, _, _ := strings.Cut(err.Error(), " (byte ")
		require.Equal(t, want, told)
		require.EqualError(t, errors.Unwrap(err), json.Unmarshal([]byte(text), new(target)).Error())
	}
	var kind *json.UnmarshalTypeError
	require.ErrorAs(t, decode([]byte(`{"secret":"x"}`), new(target)), &kind)
	require.Equal(t, "secret", kind.Field)
	require.ErrorContains(t, decode([]byte(`{"secret":1`), new(target)), "(byte 11)")
}

func TestStringsAreTheOnlyAllocationsOfDecoding(t *testing.T) {
	_, lines := sampleFlights(1)
	decode := codec.Decoder[plainFlight]()
	var f plainFlight
	require.Equal(t, 3.0, testing.AllocsPerRun(100, func() {
		if err := decode(lines[0], &f); err != nil {
			t.Fatal(err)
		}
	}))
	type numbers struct {
		A int     `json:"id"`
		B float64 `json:"delay"`
		T struct {
			At time.Time
			OK *bool
		}
	}
	text := []byte(`{"id":1,"x":{"y":[1,"\n",null]},"delay":-12.25,"t":{"at":"2001-01-01T00:01:00Z","OK":null}}`)
	decodeNumbers := codec.Decoder[numbers]()
	var n numbers
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := decodeNumbers(text, &n); err != nil {
			t.Fatal(err)
		}
	}))
	require.Equal(t, -12.25, n.B)
}

func TestEncodingIntoARoomyBufferAllocatesNothing(t *testing.T) {
	flights, _ := sampleFlights(1)
	encode := codec.Encoder[plainFlight]()
	dst := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := encode(dst, &flights[0]); err != nil {
			t.Fatal(err)
		}
	}))
}
