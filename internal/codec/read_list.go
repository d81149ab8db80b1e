package codec

import (
	"reflect"
	"unsafe"
)

// readList reads an array into a slice. A slice that is not empty has been filled by a member of the same name, and encoding/json
// reuses its elements: that case is left to it.
func (r *reader) readList(b []byte, i int, v reflect.Value, depth int) int {
	if b[i] != '[' || v.Cap() > 0 {
		return bad
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == ']' {
		v.Set(reflect.MakeSlice(r.typ, 0, 0))
		return i + 1
	}
	size := r.elem.typ.Size()
	for n := 0; ; {
		if n == v.Cap() {
			v.SetLen(n)
			v.Grow(max(n, 4))
		}
		if i = r.elem.read(b, i, unsafe.Add(v.UnsafePointer(), uintptr(n)*size), depth); i == bad {
			return bad
		}
		n++
		var more bool
		if i, more = separator(b, i, ']'); !more {
			v.SetLen(n)
			return i
		}
	}
}

// readMap reads an object into a map with strings for keys.
func (r *reader) readMap(b []byte, i int, v reflect.Value, depth int) int {
	if b[i] != '{' {
		return bad
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(r.typ))
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	key, elem := reflect.New(r.typ.Key()).Elem(), reflect.New(r.typ.Elem())
	for {
		name, at := nameAt(b, i)
		if at == bad {
			return bad
		}
		elem.Elem().SetZero()
		if i = r.elem.read(b, at, elem.UnsafePointer(), depth); i == bad {
			return bad
		}
		key.SetString(name)
		v.SetMapIndex(key, elem.Elem())
		var more bool
		if i, more = separator(b, i, '}'); !more {
			return i
		}
	}
}

// nameAt reads the name of a member and returns the index of its value.
func nameAt(b []byte, i int) (name string, value int) {
	if i >= len(b) || b[i] != '"' {
		return "", bad
	}
	if i = readText(b, i, &name, false); i == bad {
		return "", bad
	}
	return name, colon(b, i)
}
