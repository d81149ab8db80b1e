package codec

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// field is one member of a JSON object, as a struct declares it.
type field struct {
	name      string
	offset    uintptr // from the start of the struct, also where it is a field of an embedded one
	typ       reflect.Type
	omitEmpty bool
	omitZero  bool
}

// fieldsOf lists the members of struct type t in the order of encoding/json. It returns false for a struct that needs a rule beyond
// names and omission: other tag options, embedded pointers, or names that differ at most in case, among which encoding/json chooses.
func fieldsOf(t reflect.Type) ([]field, bool) {
	fields, ok := appendFields(nil, 0, t)
	if !ok {
		return nil, false
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		folded := string(foldName(nil, []byte(f.name)))
		if seen[folded] {
			return nil, false
		}
		seen[folded] = true
	}
	return fields, true
}

func appendFields(fields []field, start uintptr, t reflect.Type) ([]field, bool) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		offset := start + sf.Offset
		if sf.Anonymous && (name == "" || !sf.IsExported()) {
			var ok bool
			if sf.Type.Kind() != reflect.Struct || name != "" {
				return nil, false
			}
			if fields, ok = appendFields(fields, offset, sf.Type); !ok {
				return nil, false
			}
			continue
		}
		f := field{name: name, offset: offset, typ: sf.Type}
		if !f.take(options) || !plainName(name) {
			return nil, false
		}
		if name == "" {
			f.name = sf.Name
		}
		fields = append(fields, f)
	}
	return fields, true
}

// take notes the options of a tag. It returns false if there are others than those for omission.
func (f *field) take(options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		default:
			return false
		}
	}
	return true
}

// plainName tells whether a tag's name, which may be absent, has only characters that all versions of encoding/json take as they are.
func plainName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}

// foldName appends the form of a name that all its upper- and lower-case spellings share.
func foldName(dst, name []byte) []byte {
	for i := 0; i < len(name); {
		c := name[i]
		if c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(name[i:])
		dst = utf8.AppendRune(dst, foldRune(r))
		i += n
	}
	return dst
}

// foldRune returns the smallest of the runes that are equal but for their case.
func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
