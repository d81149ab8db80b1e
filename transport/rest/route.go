package rest

import (
	"encoding/json"
	"strings"

	"github.com/runnel-go/runnel/transport/wire"
)

// route is a row of the table: a command, and the request over HTTP that says the same.
type route struct {
	command wire.Command
	method  string
	path    string // with wildcards in braces, as http.ServeMux has them
	status  int    // of the answer if all went well
	request requests
	reply   replies
	maybe   bool // a reply without a payload is an answer with status 404
	served  bool // a client uses another row for the command
}

// safe says whether the request changes nothing.
func (r *route) safe() bool { return r.method == "GET" }

// target returns the path with what stands for its wildcards. All but letters and digits is encoded.
func (r *route) target(values []string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(r.path, "/"), "/") {
		b.WriteByte('/')
		if !strings.HasPrefix(segment, "{") {
			b.WriteString(segment)
			continue
		}
		encode(&b, values[0])
		values = values[1:]
	}
	return b.String()
}

func encode(b *strings.Builder, text string) {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
}

// wildcards returns the names of the wildcards of the path in their order.
func (r *route) wildcards() []string {
	var names []string
	for segment := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// requests translates the body of the requests of a row.
type requests struct {
	write func(c *call, body []byte)
	read  func(c *call) wire.Body
}

// body is a body of type T, as [wire.Decode] wants it.
type body[T any] interface {
	*T
	wire.Body
}

// request makes both directions of one layout.
func request[T any, P body[T]](layout func(c *call, v *T)) requests {
	return requests{
		write: func(c *call, body []byte) {
			v, err := wire.Decode[T, P](body)
			if err != nil {
				c.fail("body", wire.CodeInvalidCommand, err)
				return
			}
			layout(c, &v)
		},
		read: func(c *call) wire.Body {
			v := new(T)
			layout(c, v)
			return P(v)
		},
	}
}

// noArguments is the request of a command that has none.
func noArguments() requests { return request(func(*call, *wire.Empty) {}) }

// replies translates the payload of the replies of a row.
type replies struct {
	write func(payload []byte) (text []byte, err error)
	read  func(text []byte) (payload wire.Body, raw []byte, err error)
}

// reply makes both directions of two conversions.
func reply[T, J any, P body[T]](to func(T) (J, error), from func(*J) (T, error)) replies {
	return replies{
		write: func(payload []byte) ([]byte, error) {
			v, err := wire.Decode[T, P](payload)
			if err != nil {
				return nil, err
			}
			j, err := to(v)
			if err != nil {
				return nil, err
			}
			return json.Marshal(j)
		},
		read: func(text []byte) (wire.Body, []byte, error) {
			var j J
			if err := json.Unmarshal(text, &j); err != nil {
				return nil, nil, err
			}
			v, err := from(&j)
			return P(&v), nil, err
		},
	}
}

// sure makes a conversion of one that cannot fail.
func sure[T, J any](convert func(T) J) func(T) (J, error) {
	return func(v T) (J, error) { return convert(v), nil }
}

// list is reply for a list of items.
func list[L, T, J any, P body[L]](items func(*L) *[]T, to func(T) J, from func(*J) (T, error)) replies {
	return reply[L, []J, P](
		func(l L) ([]J, error) {
			all := make([]J, 0, len(*items(&l)))
			for _, v := range *items(&l) {
				all = append(all, to(v))
			}
			return all, nil
		},
		func(all *[]J) (l L, err error) {
			for i := range *all {
				v, err := from(&(*all)[i])
				if err != nil {
					return l, err
				}
				*items(&l) = append(*items(&l), v)
			}
			return l, nil
		},
	)
}

// nothing is the reply of a command that only succeeds.
func nothing() replies {
	return replies{
		write: func([]byte) ([]byte, error) { return nil, nil },
		read:  func([]byte) (wire.Body, []byte, error) { return nil, nil, nil },
	}
}

// archive is a reply that is the same in both worlds.
func archive() replies {
	return replies{
		write: func(payload []byte) ([]byte, error) { return payload, nil },
		read:  func(text []byte) (wire.Body, []byte, error) { return nil, text, nil },
	}
}
