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

// ReadAnswer reads an answer as every command does, and returns the replies that it makes.
func ReadAnswer(text string) (replies [][]byte) {
	for _, row := range table {
		payload, raw, err := row.reply.read([]byte(text))
		if err != nil {
			continue
		}
		h := wire.NewRequest(row.command)
		if frame, err := replyTo(&h, payload, raw); err == nil {
			replies = append(replies, frame)
		}
	}
	return replies
}
