package codec

import "unsafe"

// member is a field together with how to recognise and read it.
type member struct {
	field
	key    string // the name in quotes, and a colon
	reader *reader
}

// object reads JSON objects into a struct.
type object struct {
	members []member
	exact   map[string]int // by name
	folded  map[string]int // by name without regard to case
	sketch  uint64         // bits of the folded names: most names that are not among them have another bit
}

func newObject(members []member) *object {
	o := &object{members: members, exact: make(map[string]int), folded: make(map[string]int)}
	for i, m := range members {
		folded := string(foldName(nil, []byte(m.name)))
		o.exact[m.name] = i
		o.folded[folded] = i
		o.sketch |= sketchBit([]byte(folded))
	}
	return o
}

// sketchBit depends on a name's length, first and last letter, whatever their case.
func sketchBit(name []byte) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((n ^ int(name[0]&0x1f)<<1 ^ int(name[n-1]&0x1f)<<3) & 63)
}

// read reads the object at i into the struct at p and returns its end. The members of a file's objects mostly stand in the order of
// the struct and without white space, so what follows the last member is tried first.
func (o *object) read(b []byte, i int, p unsafe.Pointer, depth int) int {
	if b[i] != '{' {
		return bad
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	next := 0
	for {
		var at int
		if at, i = o.find(b, i, next); i == bad {
			return bad
		}
		if at < 0 {
			i = skip(b, i, depth)
		} else {
			m := &o.members[at]
			i = m.reader.read(b, i, unsafe.Add(p, m.offset), depth)
			next = at + 1
		}
		if i == bad {
			return bad
		}
		if i+1 < len(b) && b[i] == ',' && b[i+1] == '"' {
			i++
			continue
		}
		var more bool
		if i, more = separator(b, i, '}'); !more {
			return i
		}
	}
}

// find returns the number of the member whose name stands at i, or -1 if the struct has none, and the index of the value.
func (o *object) find(b []byte, i, next int) (at, value int) {
	if next < len(o.members) {
		key := o.members[next].key
		if end := i + len(key); end < len(b) && string(b[i:end]) == key {
			return next, space(b, end)
		}
	}
	if i >= len(b) || b[i] != '"' {
		return 0, bad
	}
	i++
	if end := plain(b, i); end < len(b) && b[end] == '"' {
		name := b[i:end]
		if o.sketch&sketchBit(name) == 0 {
			return -1, colon(b, end+1)
		}
		return o.lookUp(name), colon(b, end+1)
	}
	end, verbatim := text(b, i)
	if end == bad || !verbatim {
		return 0, bad
	}
	return o.lookUp(b[i:end]), colon(b, end+1)
}

func (o *object) lookUp(name []byte) int {
	if at, ok := o.exact[string(name)]; ok {
		return at
	}
	var buf [64]byte
	if at, ok := o.folded[string(foldName(buf[:0], name))]; ok {
		return at
	}
	return -1
}
