// Package codec holds the JSON that connectors read and write unless they are given another decoder or encoder.
//
// [Decoder] and [Encoder] look at a type once and return a function for it. Where a type and its text are of the usual kind
// (structs, numbers, strings, booleans, times, pointers, slices) that function does the work itself in one pass; whatever it does
// not know, a type, a spelling or a fault, it hands to encoding/json. So results, and what is refused, are those of encoding/json;
// fuzz tests hold it to that. The measurements behind this choice are in bench/README.md.
package codec

import (
	"encoding/json"
	"reflect"
	"unsafe"
)

// Decoder returns a function that reads one JSON text into *v.
//
// The result is that of json.Unmarshal into a zero T: nothing that *v held before remains, and after an error *v is the zero value.
// It shares no memory with data, which may be reused as soon as the call returns. The function holds no state: it may be called from
// several goroutines at once, each with a v of its own. Errors tell the place but not the value there; errors.As finds those of
// encoding/json.
func Decoder[T any]() func(data []byte, v *T) error {
	return decoder[T](newReader(reflect.TypeFor[T](), shareNone))
}

// StringDecoder is [Decoder] for texts that are strings. As these never change, strings in the result share their memory with the
// text where it has them as they are: nothing is copied, and the text stays in memory as long as one of them does.
func StringDecoder[T any]() func(text string, v *T) error {
	decode := decoder[T](newReader(reflect.TypeFor[T](), shareAll))
	return func(text string, v *T) error {
		// The bytes of a string are only read.
		return decode(unsafe.Slice(unsafe.StringData(text), len(text)), v)
	}
}

// PackingDecoder is [Decoder] for many texts in turn: it puts the strings of the values side by side into blocks of 4 KiB, which is
// one allocation for many strings. A block stays in memory as long as one of its strings does. Strings behind pointers, and in slices
// and maps, have memory of their own, as do long ones. One goroutine at a time may call the function.
func PackingDecoder[T any]() func(data []byte, v *T) error {
	root := newReader(reflect.TypeFor[T](), shareInside)
	decode, strings := decoder[T](root), root.strings(0, nil)
	var pack packer
	return func(data []byte, v *T) error {
		if err := decode(data, v); err != nil {
			return err
		}
		for _, at := range strings {
			s := (*string)(unsafe.Add(unsafe.Pointer(v), at))
			*s = pack.copy(*s)
		}
		return nil
	}
}

func decoder[T any](root *reader) func(data []byte, v *T) error {
	return func(data []byte, v *T) error {
		var zero T
		*v = zero
		if root.readAll(data, unsafe.Pointer(v)) {
			return nil
		}
		*v = zero
		if err := json.Unmarshal(data, v); err != nil {
			*v = zero
			return &decodeError{err}
		}
		return nil
	}
}

// Encoder returns a function that appends the JSON text of *v to dst, without a line feed, and returns the longer slice.
//
// The text is that of json.Marshal(v): one line, names in the order of the struct, '<', '>' and '&' escaped. After an error dst is
// returned as it was. The function holds no state: it may be called from several goroutines at once, each with a dst of its own.
func Encoder[T any]() func(dst []byte, v *T) ([]byte, error) {
	root := newWriter(reflect.TypeFor[T](), make(map[reflect.Type]*writer))
	return func(dst []byte, v *T) ([]byte, error) {
		if out, ok := root.write(dst, unsafe.Pointer(v), 0); ok {
			return out, nil
		}
		text, err := json.Marshal(v)
		if err != nil {
			return dst, err
		}
		return append(dst, text...), nil
	}
}
