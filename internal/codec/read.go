package codec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"unsafe"
)

// readKind is the way a value is read.
type readKind uint8

const (
	readOther       readKind = iota // by encoding/json
	readUnmarshaler                 // by the value's own UnmarshalJSON
	readBool
	readInt
	readUint
	readFloat
	readString
	readStruct
	readPointer
	readSlice
	readMap
	readAny
)

// reader reads values of one type into memory that holds such a value. It is handed pointers without a type, since reflect.Value
// takes a fifth of the time; the type it was made for says what lies there.
type reader struct {
	kind   readKind
	typ    reflect.Type
	size   int     // of numbers, in bits
	shared bool    // strings keep the memory of the text
	elem   *reader // of pointers, slices and maps
	object *object // of structs
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonNumber      = reflect.TypeFor[json.Number]()
)

// sharing says which strings of a value keep the memory of the text.
type sharing uint8

const (
	shareNone   sharing = iota
	shareInside         // those in the value itself, not behind its pointers, slices and maps
	shareAll
)

// behind is the sharing of what is behind a pointer, slice or map.
func (s sharing) behind() sharing {
	if s == shareInside {
		return shareNone
	}
	return s
}

// newReader returns the reader of a type.
func newReader(t reflect.Type, s sharing) *reader {
	c := compiler{readers: map[readerKey]*reader{}}
	r := c.reader(t, s)
	if c.refused {
		return &reader{kind: readOther}
	}
	return r
}

// compiler makes the readers of a type and of the types within it.
type compiler struct {
	readers map[readerKey]*reader // so that a type may contain itself
	refused bool                  // some part has a meaning that depends on where it stands
}

type readerKey struct {
	typ     reflect.Type
	sharing sharing
}

func (c *compiler) reader(t reflect.Type, s sharing) *reader {
	key := readerKey{t, s}
	if r := c.readers[key]; r != nil {
		return r
	}
	r := &reader{typ: t}
	c.readers[key] = r
	pointer := reflect.PointerTo(t)
	if pointer.Implements(unmarshaler) || pointer.Implements(textUnmarshaler) {
		// encoding/json finds these methods on the address of a value only if its type has a name.
		c.refused = c.refused || t.Name() == ""
		if pointer.Implements(unmarshaler) {
			r.kind = readUnmarshaler
		}
		return r
	}
	switch t.Kind() {
	case reflect.Bool:
		r.kind = readBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		r.kind, r.size = readInt, t.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		r.kind, r.size = readUint, t.Bits()
	case reflect.Float32, reflect.Float64:
		r.kind, r.size = readFloat, t.Bits()
	case reflect.String:
		if t != jsonNumber {
			r.kind, r.shared = readString, s != shareNone
		}
	case reflect.Pointer:
		r.kind, r.elem = readPointer, c.reader(t.Elem(), s.behind())
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			r.kind, r.elem = readSlice, c.reader(t.Elem(), s.behind())
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !reflect.PointerTo(t.Key()).Implements(textUnmarshaler) {
			r.kind, r.elem = readMap, c.reader(t.Elem(), s.behind())
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			r.kind = readAny
		}
	case reflect.Struct:
		c.object(r, t, s)
	}
	return r
}

func (c *compiler) object(r *reader, t reflect.Type, s sharing) {
	fields, ok := fieldsOf(t)
	if !ok {
		c.refused = true
		return
	}
	members := make([]member, len(fields))
	for i, f := range fields {
		members[i] = member{field: f, key: `"` + f.name + `":`, reader: c.reader(f.typ, s)}
	}
	r.kind, r.object = readStruct, newObject(members)
}

// strings appends where in the value itself strings are that keep the memory of the text; the value is at the given offset.
func (r *reader) strings(at uintptr, offsets []uintptr) []uintptr {
	switch r.kind {
	case readString:
		offsets = append(offsets, at)
	case readStruct:
		for _, m := range r.object.members {
			offsets = m.reader.strings(at+m.offset, offsets)
		}
	}
	return offsets
}

// readAll reads a text that holds one value. It returns false, and may have written to p, if it does not understand the text.
func (r *reader) readAll(b []byte, p unsafe.Pointer) bool {
	if r.kind == readOther {
		return false
	}
	end := r.read(b, space(b, 0), p, 0)
	return end != bad && space(b, end) == len(b)
}

// read reads the value at i into the memory at p and returns its end.
func (r *reader) read(b []byte, i int, p unsafe.Pointer, depth int) int {
	if i >= len(b) || depth > maxDepth {
		return bad
	}
	if b[i] == 'n' && r.kind > readUnmarshaler {
		return r.readNull(b, i, p)
	}
	switch r.kind {
	case readString:
		return readText(b, i, (*string)(p), r.shared)
	case readInt:
		return readSigned(b, i, p, r.size)
	case readFloat:
		return readNumber(b, i, p, r.size)
	case readUint:
		return readUnsigned(b, i, p, r.size)
	case readBool:
		return readTruth(b, i, (*bool)(p))
	case readStruct:
		return r.object.read(b, i, p, depth+1)
	case readPointer:
		target := (*unsafe.Pointer)(p)
		if *target == nil {
			*target = reflect.New(r.elem.typ).UnsafePointer()
		}
		return r.elem.read(b, i, *target, depth+1)
	case readSlice:
		return r.readList(b, i, reflect.NewAt(r.typ, p).Elem(), depth+1)
	case readMap:
		return r.readMap(b, i, reflect.NewAt(r.typ, p).Elem(), depth+1)
	case readAny:
		v, end := anyAt(b, i, depth)
		if end != bad {
			*(*any)(p) = v
		}
		return end
	}
	return r.readOther(b, i, reflect.NewAt(r.typ, p).Interface(), depth)
}

// readNull reads null, which empties what has an empty value and changes nothing else.
func (r *reader) readNull(b []byte, i int, p unsafe.Pointer) int {
	end := literal(b, i, "null")
	if end == bad {
		return bad
	}
	switch r.kind {
	case readPointer, readMap: // which is a pointer too
		*(*unsafe.Pointer)(p) = nil
	case readSlice:
		*(*[]byte)(p) = nil // all slices look alike
	case readAny:
		*(*any)(p) = nil
	}
	return end
}

func readSigned(b []byte, i int, p unsafe.Pointer, size int) int {
	n, end := signed(b, i, size)
	if end == bad {
		return bad
	}
	switch size {
	case 64:
		*(*int64)(p) = n
	case 32:
		*(*int32)(p) = int32(n)
	case 16:
		*(*int16)(p) = int16(n)
	case 8:
		*(*int8)(p) = int8(n)
	}
	return end
}

func readUnsigned(b []byte, i int, p unsafe.Pointer, size int) int {
	n, end := unsigned(b, i, size)
	if end == bad {
		return bad
	}
	switch size {
	case 64:
		*(*uint64)(p) = n
	case 32:
		*(*uint32)(p) = uint32(n)
	case 16:
		*(*uint16)(p) = uint16(n)
	case 8:
		*(*uint8)(p) = uint8(n)
	}
	return end
}

func readNumber(b []byte, i int, p unsafe.Pointer, size int) int {
	f, end := float(b, i, size)
	if end == bad {
		return bad
	}
	if size == 64 {
		*(*float64)(p) = f
	} else {
		*(*float32)(p) = float32(f)
	}
	return end
}

func readTruth(b []byte, i int, p *bool) int {
	if end := literal(b, i, "true"); end != bad {
		*p = true
		return end
	}
	end := literal(b, i, "false")
	if end != bad {
		*p = false
	}
	return end
}

// readOther finds the end of the value and hands its text to whoever reads such values.
func (r *reader) readOther(b []byte, i int, target any, depth int) int {
	end := skip(b, i, depth)
	if end == bad {
		return bad
	}
	var err error
	if r.kind == readUnmarshaler {
		err = target.(json.Unmarshaler).UnmarshalJSON(b[i:end])
	} else {
		err = json.Unmarshal(b[i:end], target)
	}
	if err != nil {
		return bad
	}
	return end
}
