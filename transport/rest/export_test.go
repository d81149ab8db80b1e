package rest

import (
	"iter"

	"github.com/runnel-go/runnel/transport/wire"
)

// Commands are those that the table has.
func Commands() iter.Seq[wire.Command] {
	return func(yield func(wire.Command) bool) {
		for _, row := range table {
			if !yield(row.command) {
				return
			}
		}
	}
}

// Codes are those that have a status of their own.
var Codes = statuses

// CodeOf is what an answer stands for.
func CodeOf(status int, body string) wire.Code {
	return codeOf(&answer{status: status, body: []byte(body)})
}
