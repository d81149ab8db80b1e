package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// Codes that only the HTTP interface acts on.
const (
	codeInvalidIdentifier wire.Code = 6
	codeSegmentNotFound   wire.Code = 4000
	codeAccessTokenGone   wire.Code = 77
	codeAccessTokenWrong  wire.Code = 78
)

// statuses are the statuses of errors; any other code has 400. (Iggy HTTP interface, errors.)
var statuses = map[wire.Code]int{
	wire.CodeResourceNotFound:            http.StatusNotFound,
	wire.CodeClientNotFound:              http.StatusNotFound,
	wire.CodeStreamIDNotFound:            http.StatusNotFound,
	wire.CodeStreamNameNotFound:          http.StatusNotFound,
	wire.CodeTopicIDNotFound:             http.StatusNotFound,
	wire.CodeTopicNameNotFound:           http.StatusNotFound,
	wire.CodePartitionNotFound:           http.StatusNotFound,
	wire.CodeConsumerOffsetNotFound:      http.StatusNotFound,
	codeSegmentNotFound:                  http.StatusNotFound,
	wire.CodeConsumerGroupIDNotFound:     http.StatusNotFound,
	wire.CodeConsumerGroupNameNotFound:   http.StatusNotFound,
	wire.CodeConsumerGroupMemberNotFound: http.StatusNotFound,

	wire.CodeUnauthenticated:            http.StatusUnauthorized,
	wire.CodeInvalidPersonalAccessToken: http.StatusUnauthorized,
	codeAccessTokenGone:                 http.StatusUnauthorized,
	codeAccessTokenWrong:                http.StatusUnauthorized,
	wire.CodeUnauthorized:               http.StatusForbidden,

	wire.CodeCannotEstablishConnection:    http.StatusServiceUnavailable,
	wire.CodeTransientNotCommitted:        http.StatusServiceUnavailable,
	wire.CodeTransientNotAccepted:         http.StatusServiceUnavailable,
	wire.CodeDeferredPollCapacityExceeded: http.StatusServiceUnavailable,
}

// statusOf returns the status that an error has.
func statusOf(code wire.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusBadRequest
}

// codeOf returns why a request was refused, 0 if it was not: the code that the answer has, or the one that its status
// stands for. Of a login that is needed there is nothing more to know.
func codeOf(got *answer) wire.Code {
	switch {
	case got.status < http.StatusMultipleChoices:
		return 0
	case got.status == http.StatusUnauthorized:
		return wire.CodeUnauthenticated
	}
	if code := codeIn(got.body); code != 0 {
		return code
	}
	switch got.status {
	case http.StatusForbidden:
		return wire.CodeUnauthorized
	case http.StatusNotFound:
		return wire.CodeResourceNotFound
	case http.StatusTooManyRequests:
		return wire.CodeTransientNotAccepted
	case http.StatusServiceUnavailable:
		return wire.CodeCannotEstablishConnection
	}
	return wire.CodeHTTPResponseError
}

// loginCode returns why a login was refused.
func loginCode(got *answer) wire.Code {
	if code := codeIn(got.body); code != 0 {
		return code
	}
	return codeOf(got)
}

// firstLongCode is the first code that is no status.
const firstLongCode = 1000

// codeIn returns the code in the body of an error, 0 if there is none: the number there may be the status too.
func codeIn(body []byte) wire.Code {
	var e httpjson.Error
	if err := json.Unmarshal(body, &e); err != nil {
		return 0
	}
	code := wire.Code(e.ID)
	if code.Known() && (code >= firstLongCode || e.Code == snake(code.String())) {
		return code
	}
	return 0
}

// snake writes a name such as StreamIdNotFound as stream_id_not_found.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// words writes a name such as StreamIdNotFound as a sentence.
func words(name string) string {
	text := strings.ReplaceAll(snake(name), "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// fieldsOf are the fields of requests that some codes are about.
var fieldsOf = map[wire.Code]string{
	wire.CodeStreamIDNotFound:        "stream_id",
	wire.CodeStreamNameNotFound:      "stream_id",
	wire.CodeStreamNameAlreadyExists: "name",
	wire.CodeTopicIDNotFound:         "topic_id",
	wire.CodeTopicNameNotFound:       "topic_id",
	wire.CodeTopicNameAlreadyExists:  "name",
	wire.CodePartitionNotFound:       "partition_id",
	wire.CodeConsumerGroupIDNotFound: "group_id",
	wire.CodeUserAlreadyExists:       "username",
}

// errorBody is the body of an answer that refuses a request.
func errorBody(code wire.Code) httpjson.Error {
	e := httpjson.Error{ID: uint32(code), Code: snake(code.String()), Reason: words(code.String())}
	if !code.Known() {
		e.Code, e.Reason = "error", "Error"
	}
	if field, ok := fieldsOf[code]; ok {
		e.Field = &field
	}
	return e
}

// statusError is the body of an answer that refuses a request for no reason that has a code.
func statusError(status int) httpjson.Error {
	text := http.StatusText(status)
	return httpjson.Error{ID: uint32(status), Code: strings.ReplaceAll(strings.ToLower(text), " ", "_"), Reason: text}
}
