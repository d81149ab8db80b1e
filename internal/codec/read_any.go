package codec

// anyAt reads the value at i as encoding/json does without a type: into a string, float64, bool, nil, []any or map[string]any.
func anyAt(b []byte, i, depth int) (any, int) {
	if i >= len(b) || depth > maxDepth {
		return nil, bad
	}
	switch b[i] {
	case '"':
		var s string
		end := readText(b, i, &s, false)
		return s, end
	case '{':
		return anyObject(b, i+1, depth+1)
	case '[':
		return anyList(b, i+1, depth+1)
	case 't':
		return true, literal(b, i, "true")
	case 'f':
		return false, literal(b, i, "false")
	case 'n':
		return nil, literal(b, i, "null")
	}
	f, end := float(b, i, 64)
	return f, end
}

// anyObject reads an object whose opening bracket is before i.
func anyObject(b []byte, i, depth int) (any, int) {
	object := make(map[string]any)
	i = space(b, i)
	if i < len(b) && b[i] == '}' {
		return object, i + 1
	}
	for {
		name, at := nameAt(b, i)
		if at == bad {
			return nil, bad
		}
		value, end := anyAt(b, at, depth)
		if end == bad {
			return nil, bad
		}
		object[name] = value
		var more bool
		if i, more = separator(b, end, '}'); !more {
			return object, i
		}
	}
}

// anyList reads an array whose opening bracket is before i.
func anyList(b []byte, i, depth int) (any, int) {
	list := []any{}
	i = space(b, i)
	if i < len(b) && b[i] == ']' {
		return list, i + 1
	}
	for {
		value, end := anyAt(b, i, depth)
		if end == bad {
			return nil, bad
		}
		list = append(list, value)
		var more bool
		if i, more = separator(b, end, ']'); !more {
			return list, i
		}
	}
}
