package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/runnel-go/runnel/internal/codec"
)

type flight struct {
	ID          int    `json:"id"`
	Date        local  `json:"date"`
	Delay       int    `json:"delay"`
	Distance    int    `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

// local is a time without a zone, as a user would write it.
type local struct{ time.Time }

func (l *local) UnmarshalJSON(b []byte) error {
	t, err := time.Parse(`"2006-01-02T15:04:05"`, string(b))
	l.Time = t
	return err
}

func (l local) MarshalJSON() ([]byte, error) {
	return []byte(l.Format(`"2006-01-02T15:04:05"`)), nil
}

type scalars struct {
	B   bool    `json:"b"`
	I   int     `json:"i"`
	I8  int8    `json:"i8"`
	I16 int16   `json:"i16"`
	I32 int32   `json:"i32"`
	I64 int64   `json:"i64"`
	U   uint    `json:"u"`
	U8  uint8   `json:"u8"`
	U16 uint16  `json:"u16"`
	U32 uint32  `json:"u32"`
	U64 uint64  `json:"u64"`
	F32 float32 `json:"f32"`
	F64 float64 `json:"f64"`
	S   string  `json:"s"`
}

type (
	named string
	shade uint8
)

// UnmarshalText makes shade a value with a text form.
func (s *shade) UnmarshalText(b []byte) error {
	if len(b) != 1 {
		return errors.New("one letter")
	}
	*s = shade(b[0])
	return nil
}

func (s shade) MarshalText() ([]byte, error) { return []byte{byte(s)}, nil }

type nested struct {
	A  *scalars           `json:"a,omitempty"`
	L  []scalars          `json:"l,omitempty"`
	P  **int              `json:"p"`
	S  []string           `json:"s"`
	M  map[string]int     `json:"m,omitempty"`
	X  any                `json:"x"`
	R  json.RawMessage    `json:"r,omitempty"`
	N  json.Number        `json:"n,omitempty"`
	Y  []byte             `json:"y"`
	Z  [2]int             `json:"z,omitempty"`
	T  time.Time          `json:"t"`
	TP *time.Time         `json:"tp"`
	H  shade              `json:"h"`
	I  netip.Addr         `json:"i"`
	K  named              `json:"k,omitempty"`
	V  []nested           `json:"v"`
	W  struct{ A, B int } `json:"w"`
	LL [][]*float64       `json:"ll"`
}

type base struct {
	ID   int `json:"id"`
	Kind string
}

type embedding struct {
	base
	Sub
	Name string `json:"name"`
}

// Sub is embedded.
type Sub struct {
	S string `json:"s"`
	I int    `json:"i"`
}

type (
	shadowed struct {
		base
		ID string `json:"id"`
	}
	byPointer struct {
		*Sub
		X int `json:"x"`
	}
	twice struct {
		byPointer
	}
	quoted struct {
		I int `json:"i,string"`
		S string
	}
	cases struct {
		I int `json:"i"`
		J int `json:"I"`
	}
	folding struct {
		Size  int `json:"size"`
		Kelv  int `json:"k"`
		Größe int
		Dash  int `json:"-,"`
		Skip  int `json:"-"`
		HTML  int `json:"<&>"`
	}
	strangeTag struct {
		Odd int `json:"a\"b"`
	}
	unnamed struct {
		X struct{ time.Time } `json:"x"`
		I int                 `json:"i"`
	}
	zeroes struct {
		T time.Time `json:"t,omitzero"`
		I int       `json:"i,omitempty,omitzero"`
	}
	loop struct {
		S    string `json:"s"`
		Next *loop  `json:"next"`
	}
	own struct{ text string }
	odd struct {
		F func() `json:"f,omitempty"`
		I int    `json:"i"`
	}
)

func (o *own) UnmarshalJSON(b []byte) error { o.text = string(b); return nil }

// comparison holds Decoder and Encoder of one type against encoding/json.
type comparison struct {
	name  string
	check func(t *testing.T, text []byte)
}

func compare[T any]() comparison {
	decode, encode := codec.Decoder[T](), codec.Encoder[T]()
	decodeString, decodePacked := codec.StringDecoder[T](), codec.PackingDecoder[T]()
	name := strings.TrimPrefix(reflect.TypeFor[T]().String(), "codec_test.")
	return comparison{name, func(t *testing.T, text []byte) {
		t.Helper()
		var got, want, zero T
		given := append([]byte(nil), text...)
		err, wantErr := decode(given, &got), json.Unmarshal(text, &want)
		clear(given) // whatever still refers to the text shows now
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %q: error %v, want %v", name, text, err, wantErr)
		}
		if err != nil {
			if errors.Unwrap(err).Error() != wantErr.Error() {
				t.Fatalf("%s: %q: cause %v, want %v", name, text, errors.Unwrap(err), wantErr)
			}
			want = zero
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q: %#v, want %#v", name, text, got, want)
		}
		var shared T
		sharedErr := decodeString(string(text), &shared)
		if (sharedErr == nil) != (err == nil) || !reflect.DeepEqual(shared, got) {
			t.Fatalf("%s: %q: of a string: %#v %v, want %#v %v", name, text, shared, sharedErr, got, err)
		}
		var packed T
		given = append(given[:0], text...)
		packedErr := decodePacked(given, &packed)
		clear(given)
		if (packedErr == nil) != (err == nil) || !reflect.DeepEqual(packed, got) {
			t.Fatalf("%s: %q: packed: %#v %v, want %#v %v", name, text, packed, packedErr, got, err)
		}
		out, err := encode([]byte("|"), &got)
		wantOut, wantErr := json.Marshal(&want)
		if (err == nil) != (wantErr == nil) || string(out) != "|"+string(wantOut) {
			t.Fatalf("%s: %#v: %s %v, want %s %v", name, got, out, err, wantOut, wantErr)
		}
	}}
}

func comparisons() []comparison {
	return []comparison{
		compare[flight](), compare[scalars](), compare[nested](), compare[embedding](), compare[shadowed](), compare[byPointer](), compare[twice](),
		compare[quoted](), compare[cases](), compare[folding](), compare[strangeTag](), compare[unnamed](), compare[zeroes](), compare[loop](),
		compare[own](), compare[odd](), compare[*scalars](), compare[[]nested](), compare[map[string]scalars](), compare[any](),
		compare[string](), compare[int8](), compare[float64](), compare[json.Number](), compare[time.Time](), compare[[]byte](),
		compare[json.RawMessage](), compare[shade](), compare[[3]int](), compare[map[string]any](), compare[map[named][]any](), compare[map[int]string](), compare[map[shade]int](),
		compare[map[string]map[string]string](), compare[[]*int8](), compare[fmt.Stringer](), compare[struct{ S fmt.Stringer }](),
	}
}

// texts are documents with one peculiarity each; they also seed the fuzz test.
func texts() []string {
	list := []string{
		``, ` `, `null`, ` null `, `nul`, `{}`, ` { } `, `[]`, `true`, `"x"`, `-`, `0`, `01`, `-0`, `1.5`, `1e3`, `{`, `}`, `{"`, `{"i"`, `{"i":`, `{"i":1`,
		"\ufeff{}", `{"i":1}{}`, `{"i":1} x`, `{"i":1},`, "{\"i\":1}\n", "\t{\r\n\"i\" : 1 , \"s\":\"x\"\n} ", "{\"i\":1,}", `{,}`, `{"i" 1}`, `{i:1}`, `{'i':1}`,
		`{"i":1,"i":2}`, `{"i":1,"i":null}`, `{"I":3}`, `{"i":1,"I":2}`, `{"ID":1,"KIND":"x","kind":"y"}`, `{"id":"x"}`, `{"\u0069":7}`, "{\"\u017fize\":1,\"\u212a\":2}",
		"{\"GR\u00d6\u1e9eE\":3,\"gr\u00f6\u00dfe\":4}", "{\"s\xff\":1}", `{"-":1}`, `{"Skip":1,"Odd":2,"<&>":3,"\u003c\u0026\u003e":4}`,
		`{"i":9223372036854775807}`, `{"i":9223372036854775808}`, `{"i":-9223372036854775808}`, `{"i":-9223372036854775809}`, `{"i":1e2}`, `{"i":1.0}`,
		`{"i8":127}`, `{"i8":128}`, `{"i8":-128}`, `{"i8":-129}`, `{"u8":255}`, `{"u8":256}`, `{"u8":-0}`, `{"u8":-1}`, `{"u64":18446744073709551615}`,
		`{"u64":18446744073709551616}`, `{"i16":-5,"i32":7,"u16":9,"u32":11,"u":1}`, `{"i16":32768}`, `{"u32":4294967296}`, `{"u64":9999999999999999999}`, `{"u64":10000000000000000000}`, `{"i":00}`, `{"i":-}`, `{"i":+1}`, `{"i":- 1}`,
		`{"f64":0.1}`, `{"f64":-0.0}`, `{"f64":123456789.125}`, `{"f64":0.30000000000000004}`, `{"f64":9007199254740993}`, `{"f64":1e400}`, `{"f64":1e-400}`,
		`{"f64":1E+2}`, `{"f64":1.}`, `{"f64":.5}`, `{"f64":1e}`, `{"f64":123456789012345678901234567890}`, `{"f64":1e21}`, `{"f64":1e-7}`, `{"f64":0.00001234}`,
		`{"f32":3.4e38}`, `{"f32":3.5e38}`, `{"f32":0.1}`, `{"f32":1e-45}`, `{"f32":1e22}`, `{"f32":16777217}`, `{"f64":0.000000000000000000000000001}`,
		`{"b":true}`, `{"b":false}`, `{"b":truex}`, `{"b":1}`, `{"b":null}`, `{"b":nulL}`, `{"b":"true"}`, `{"s":true}`, `{"s":1}`, `{"s":{}}`, `{"s":[]}`,
		`{"s":"a\"b\\c\/d\b\f\n\r\t"}`, `{"s":"\u00e9\u20AC\ud83d\ude00"}`, `{"s":"\ud83d"}`, `{"s":"\ude00\ud83d\u0041"}`, `{"s":"\ud83d\n"}`, `{"s":"\u12"}`, `{"s":"\x"}`, `{"s":"\`,
		"{\"s\":\"\xc3\xa9\u20ac\U0001f600\"}", "{\"s\":\"\xff\xc3(\"}", "{\"s\":\"\xed\xa0\x80\"}", "{\"s\":\"a\nb\"}", "{\"s\":\"a\x00b\"}", "{\"s\":\"\x7f\u2028\u2029<>&\"}",
		`{"s":"12345678"}`, `{"s":"1234567890abcdefghijklmnopqrstuvwxyz"}`, "{\"s\":\"1234567\xff\"}", `{"s":"12345678\n1"}`, `{"s":"unended`, `{"s":null}`,
		`{"unknown":{"a":[1,2,{"b":null}],"c":"\ud800"},"i":5}`, `{"unknown":[1,]}`, `{"unknown":{"a"}}`, `{"unknown":{"a":}}`, "{\"unknown\":\"\xff\"}", `{"unknown":"\q"}`, `{"unknown":01}`,
		`{"a":{"i":1},"a":{"u":2}}`, `{"a":{"i":1},"a":null}`, `{"a":null}`, `{"a":[]}`, `{"l":[{"i":1},{"s":"x"}]}`, `{"l":[{"i":1,"s":"y"}],"l":[{"u":2},{"i":3}]}`, `{"l":[]}`,
		`{"l":null}`, `{"l":[null]}`, `{"l":{}}`, `{"l":[{"i":"x"}]}`, `{"l":[1`, `{"l":[{}`, `{"l":[{},]}`, `{"p":5}`, `{"p":null}`, `{"p":"x"}`, `{"s":["a","\n",null]}`, `{"s":["a"],"s":[]}`,
		`{"m":{"a":1,"b":2},"m":{"a":3}}`, `{"x":{"y":[1.5,"z",null,true]}}`, `{"x":1e999}`, `{"x":[{"a":[],"b":{}},"\ud800",false,-0,[1,[2]]],"x":{"c":1}}`, `{"a":{"b":"c"},"a":{"d":"e"},"f":null}`, `{"a":{"b":1},"a":2}`, `{"1":"x"}`, `{"x":[1,]}`, `{"x":{"a":1,}}`,
		`{"x":{"a"}}`, `{"x":{a:1}}`, `{"x":tru}`, `{"a":{"b":1,}}`, `{"a":1,"a":null}`, `[1,null,-7,128]`, `[[],[null],{}]`, `{"a":[1,2,3,4,5,6,7,8,9]}`, `{"x":{"a":1 "b":2}}`, `{"r": [1, 2] }`, `{"r":null}`, `{"n":12.50}`, `{"n":"7"}`, `{"n":"x"}`, `{"n":null}`,
		`{"y":"aGk="}`, `{"y":"!"}`, `{"y":[104,105]}`, `{"y":null}`, `{"z":[1,2,3]}`, `{"z":[1]}`, `{"t":"2001-02-03T04:05:06.789Z"}`, `{"t":"2001-02-03T04:05:06+02:00"}`, `{"t":"2001-02-03"}`,
		`{"t":null}`, `{"t":5}`, `{"tp":"2001-02-03T04:05:06Z"}`, `{"tp":null}`, `{"tp":"x"}`, `{"h":"a"}`, `{"h":"ab"}`, `{"h":97}`, `{"i":"10.0.0.1"}`, `{"i":"::1%eth0"}`, `{"i":"nine"}`,
		`{"k":"v"}`, `{"v":[{"v":[{"v":[]}]},{}]}`, `{"w":{"A":1,"b":2}}`, `{"ll":[[1,2.5,null],[],null]}`, `{"i":"12"}`, `{"i":"x"}`, `{"x":"2001-02-03T04:05:06Z"}`, `{"x":{"Time":"2001-02-03T04:05:06Z"}}`,
		`{"id":1,"date":"2001-01-01T00:01:00","delay":33,"distance":2176,"origin":"LAS","destination":"PHL"}`,
		`{"destination":"PHL","origin":"LAS","extra":null,"id":1,"date":"2001-01-01T00:01:00"}`, `{"date":"2001-01-01"}`, `{"date":null}`, `{"s":"x","i":3,"name":"n","id":4}`,
		`[{"i":1},null,{}]`, `{"a":{"i":1}}`, `[1,2,3,4]`, `[1,2]`, `{"f":null}`, `{"f":1}`, `"2001-02-03T04:05:06Z"`, `300`, `-128`,
	}
	for _, depth := range []int{90, 110, 9_000, 10_001} {
		list = append(list,
			`{"u":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`,
			strings.Repeat(`{"next":`, depth)+"null"+strings.Repeat("}", depth),
			strings.Repeat(`{"v":[`, depth)+strings.Repeat("]}", depth),
		)
	}
	return list
}
