package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// Keys of queries that more than one place knows.
const (
	keyWait    = "wait_us"
	keyTimeout = "request_timeout_us"
	keyContext = "context"
)

// Reasons why a request cannot be read or written.
var (
	errMissing = errors.New("is missing")
	errNumber  = errors.New("is no number that fits")
	errLength  = errors.New("is too long or empty")
	errWord    = errors.New("is none of the words that it may be")
	errDigits  = errors.New("is a name of digits, which cannot be told from a number")
)

// callError says what of a request is wrong.
type callError struct {
	field string
	code  wire.Code
	err   error
}

func (e *callError) Error() string { return fmt.Sprintf("%s %v", e.field, e.err) }
func (e *callError) Unwrap() error { return e.err }

// call is a request over HTTP that is written or read: what its path, its query and its body say. Each of its methods does
// both, so that a layout is written down once: what is read goes into what is written from.
type call struct {
	writing  bool
	path     []string // what stands for the wildcards of the path, in their order
	next     int      // of path
	query    url.Values
	body     []byte
	at       wire.PartitionContext // the partition that the request is for
	named    bool                  // at was given
	now      uint64                // when it is read, in microseconds since 1970
	newID    func() wire.Uint128   // makes ids of messages that have none
	declined bool                  // this row is not for the request that is to be written
	wait     time.Duration
	timeout  time.Duration
	err      error
}

// fail keeps the first error.
func (c *call) fail(field string, code wire.Code, err error) {
	if c.err == nil {
		c.err = &callError{field, code, err}
	}
}

// segment is the next part of the path.
func (c *call) segment(text *string, field string) {
	switch {
	case c.writing:
		c.path = append(c.path, *text)
	case c.next < len(c.path):
		*text = c.path[c.next]
		c.next++
	}
	if len(*text) < 1 || len(*text) > 255 {
		c.fail(field, codeInvalidIdentifier, errLength)
	}
}

// identifier is the next part of the path.
func (c *call) identifier(id *wire.Identifier, field string) {
	text := c.identifierText(*id, field)
	c.segment(&text, field)
	if !c.writing {
		*id = readIdentifier(text)
	}
}

// identifierText returns how an identifier is written.
func (c *call) identifierText(id wire.Identifier, field string) string {
	if c.writing && id.Name != "" && readIdentifier(id.Name).Name == "" {
		c.fail(field, codeInvalidIdentifier, errDigits)
	}
	return id.String()
}

// readIdentifier takes for a number what can be one.
func readIdentifier(text string) wire.Identifier {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return wire.ID(uint32(n))
	}
	return wire.Named(text)
}

func (c *call) stream(id *wire.Identifier) { c.identifier(id, "stream_id") }

func (c *call) topic(stream, topic *wire.Identifier) {
	c.stream(stream)
	c.identifier(topic, "topic_id")
}

// segmentNumber is the next part of the path.
func (c *call) segmentNumber(n *uint32, field string) {
	text := strconv.FormatUint(uint64(*n), 10)
	c.segment(&text, field)
	if !c.writing {
		c.parse(n, text, field)
	}
}

func (c *call) parse(n *uint32, text, field string) {
	v, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		c.fail(field, wire.CodeInvalidCommand, errNumber)
	}
	*n = uint32(v)
}

// text is a key of the query. Without it the text stays what it is, if it is something.
func (c *call) text(key string, text *string) {
	switch {
	case c.writing:
		c.query.Set(key, *text)
	case c.query.Has(key):
		*text = c.query.Get(key)
	case *text == "":
		c.fail(key, wire.CodeInvalidCommand, errMissing)
	}
}

// number is a key of the query. Without it the number stays what it is.
func (c *call) number(key string, n *uint64) {
	text := strconv.FormatUint(*n, 10)
	c.text(key, &text)
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		c.fail(key, wire.CodeInvalidCommand, errNumber)
	}
	*n = v
}

// number32 is number for smaller ones.
func (c *call) number32(key string, n *uint32) {
	v := uint64(*n)
	c.number(key, &v)
	if v > math.MaxUint32 {
		c.fail(key, wire.CodeInvalidCommand, errNumber)
	}
	*n = uint32(v)
}

// wanted is number32 for a key that has to be there.
func (c *call) wanted(key string, n *uint32) {
	if !c.writing && !c.query.Has(key) {
		c.fail(key, wire.CodeInvalidCommand, errMissing)
	}
	c.number32(key, n)
}

// truth is a key of the query. Without it the truth stays what it is.
func (c *call) truth(key string, v *bool) {
	text := strconv.FormatBool(*v)
	c.text(key, &text)
	*v = text == "true"
	if !*v && text != "false" {
		c.fail(key, wire.CodeInvalidCommand, errWord)
	}
}

// word is a key of the query that stands for one of some numbers. Without it the number stays what it is.
func word[N ~uint8](c *call, key string, words []string, v *N) {
	text := ""
	if int(*v) < len(words) {
		text = words[*v]
	}
	c.text(key, &text)
	for n, one := range words {
		if one == text && one != "" {
			*v = N(n)
			return
		}
	}
	c.fail(key, wire.CodeInvalidCommand, errWord)
}

// json is the body. What is read stays in v.
func (c *call) json(v any) {
	if c.writing {
		var err error
		if c.body, err = json.Marshal(v); err != nil {
			c.fail("body", wire.CodeInvalidCommand, err)
		}
		return
	}
	if c.err != nil {
		return
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		field := "body"
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			field = wrong.Field
		}
		c.fail(field, wire.CodeInvalidFormat, errors.New("is not the JSON that it has to be"))
	}
}

// queryContext is the context of a partition in the query, if there is one.
func (c *call) queryContext() {
	switch {
	case c.writing && c.at.Incarnation != 0:
		text, err := json.Marshal(httpjson.ContextOf(c.at))
		if err != nil {
			c.fail(keyContext, wire.CodeInvalidCommand, err)
		}
		c.query.Set(keyContext, string(text))
	case !c.writing && c.query.Has(keyContext):
		var at *httpjson.Context
		if err := json.Unmarshal([]byte(c.query.Get(keyContext)), &at); err != nil {
			c.fail(keyContext, wire.CodeInvalidFormat, errors.New("is not the JSON that it has to be"))
		}
		c.bodyContext(&at)
	}
}

// bodyContext is the context of a partition in the body; nil for none.
func (c *call) bodyContext(at **httpjson.Context) {
	switch {
	case c.writing && c.at.Incarnation != 0:
		context := httpjson.ContextOf(c.at)
		*at = &context
	case !c.writing && *at != nil:
		c.at, c.named = (*at).Wire(), true
	}
}
