package codec

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// writeKind is the way a value is written.
type writeKind uint8

const (
	writeOther writeKind = iota // by encoding/json
	writeBool
	writeInt
	writeUint
	writeFloat
	writeString
	writeTime
	writePointer
	writeSlice
	writeStruct
)

// writer writes values of one type.
type writer struct {
	kind    writeKind
	typ     reflect.Type
	size    int           // of numbers, in bits
	elem    *writer       // of pointers and slices
	members []writeMember // of structs
}

// writeMember is a field, how it is announced and how it is written.
type writeMember struct {
	field
	prefix string // the name, quoted, and a colon
	writer *writer
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	timeType      = reflect.TypeFor[time.Time]()
)

// newWriter returns the writer of t. writers holds those made so far, so that a type may contain itself.
func newWriter(t reflect.Type, writers map[reflect.Type]*writer) *writer {
	if w := writers[t]; w != nil {
		return w
	}
	w := &writer{typ: t}
	writers[t] = w
	if pointer := reflect.PointerTo(t); t.Implements(marshaler) || t.Implements(textMarshaler) ||
		pointer.Implements(marshaler) || pointer.Implements(textMarshaler) {
		if t == timeType {
			w.kind = writeTime
		}
		return w
	}
	switch t.Kind() {
	case reflect.Bool:
		w.kind = writeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.kind, w.size = writeInt, t.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.kind, w.size = writeUint, t.Bits()
	case reflect.Float32, reflect.Float64:
		w.kind, w.size = writeFloat, t.Bits()
	case reflect.String:
		if t != jsonNumber {
			w.kind = writeString
		}
	case reflect.Pointer:
		w.kind, w.elem = writePointer, newWriter(t.Elem(), writers)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			w.kind, w.elem = writeSlice, newWriter(t.Elem(), writers)
		}
	case reflect.Struct:
		w.announce(t, writers)
	}
	return w
}

// announce prepares the members of struct type t. Without them the struct is left to encoding/json, which also knows what a type
// calls its zero.
func (w *writer) announce(t reflect.Type, writers map[reflect.Type]*writer) {
	fields, ok := fieldsOf(t)
	if !ok || slices.ContainsFunc(fields, func(f field) bool { return f.omitZero }) {
		return
	}
	for _, f := range fields {
		name, _ := appendString(nil, f.name) // names are letters and signs: always text
		w.members = append(w.members, writeMember{field: f, prefix: string(name) + ":", writer: newWriter(f.typ, writers)})
	}
	w.kind = writeStruct
}

// write appends the text of the value at p. It returns false if encoding/json must write the whole, or say what is wrong with it.
func (w *writer) write(dst []byte, p unsafe.Pointer, depth int) ([]byte, bool) {
	if depth > maxDepth {
		return dst, false
	}
	switch w.kind {
	case writeString:
		return appendString(dst, *(*string)(p))
	case writeInt:
		return strconv.AppendInt(dst, intAt(p, w.size), 10), true
	case writeFloat:
		return appendFloat(dst, floatAt(p, w.size), w.size)
	case writeUint:
		return strconv.AppendUint(dst, uintAt(p, w.size), 10), true
	case writeTime:
		return appendTime(dst, (*time.Time)(p))
	case writeBool:
		return strconv.AppendBool(dst, *(*bool)(p)), true
	case writeStruct:
		return w.object(dst, p, depth)
	case writePointer:
		target := *(*unsafe.Pointer)(p)
		if target == nil {
			return append(dst, "null"...), true
		}
		return w.elem.write(dst, target, depth+1)
	case writeSlice:
		return w.list(dst, reflect.NewAt(w.typ, p).Elem(), depth)
	}
	return appendOther(dst, reflect.NewAt(w.typ, p).Interface())
}

func intAt(p unsafe.Pointer, size int) int64 {
	switch size {
	case 8:
		return int64(*(*int8)(p))
	case 16:
		return int64(*(*int16)(p))
	case 32:
		return int64(*(*int32)(p))
	}
	return *(*int64)(p)
}

func uintAt(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 8:
		return uint64(*(*uint8)(p))
	case 16:
		return uint64(*(*uint16)(p))
	case 32:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func floatAt(p unsafe.Pointer, size int) float64 {
	if size == 32 {
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}

func (w *writer) object(dst []byte, p unsafe.Pointer, depth int) ([]byte, bool) {
	dst = append(dst, '{')
	var ok bool
	first := true
	for i := range w.members {
		m := &w.members[i]
		value := unsafe.Add(p, m.offset)
		if m.omitEmpty && isEmpty(reflect.NewAt(m.typ, value).Elem()) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, m.prefix...)
		if dst, ok = m.writer.write(dst, value, depth+1); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// isEmpty tells what omitempty leaves out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct, reflect.Complex64, reflect.Complex128, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	}
	return v.IsZero()
}

func (w *writer) list(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
	if v.IsNil() {
		return append(dst, "null"...), true
	}
	dst = append(dst, '[')
	var ok bool
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = w.elem.write(dst, v.Index(i).Addr().UnsafePointer(), depth+1); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

// appendFloat appends a number whose size needs no exponent; others are left to encoding/json.
func appendFloat(dst []byte, f float64, size int) ([]byte, bool) {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-5 && abs < 1e20 {
		return strconv.AppendFloat(dst, f, 'f', -1, size), true
	}
	if size == 32 {
		return appendOther(dst, float32(f))
	}
	return appendOther(dst, f)
}

// appendTime appends a time in the form of RFC 3339, which has no years beyond 9999: those are an error for encoding/json to tell.
func appendTime(dst []byte, t *time.Time) ([]byte, bool) {
	text, err := t.AppendText(append(dst, '"'))
	if err != nil {
		return dst, false
	}
	return append(text, '"'), true
}

func appendOther(dst []byte, v any) ([]byte, bool) {
	text, err := json.Marshal(v)
	if err != nil {
		return dst, false
	}
	return append(dst, text...), true
}
