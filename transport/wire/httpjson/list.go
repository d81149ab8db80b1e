package httpjson

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/runnel-go/runnel/transport/wire"
)

var errList = errors.New("no list")

// readList reads the elements of a list, or of null, as long as add says that there is room for more. What is behind is not
// looked at: a short text can have very many elements, each of which takes memory.
func readList[T any](b []byte, add func(T) bool) error {
	d := json.NewDecoder(bytes.NewReader(b))
	begin, err := d.Token()
	switch {
	case err != nil:
		return err
	case begin == nil:
		return nil
	case begin != json.Delim('['):
		return errList
	}
	for room := true; room && d.More(); {
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		room = add(one)
	}
	return nil
}

// UnmarshalJSON reads a list of messages.
func (m *NewMessages) UnmarshalJSON(b []byte) error {
	*m = nil
	size := wire.BatchHeaderSize
	return readList(b, func(one NewMessage) bool {
		*m = append(*m, one)
		size += wire.MessageHeaderSize + len(one.Payload) + len(one.UserHeaders)
		return size <= wire.MaxRecordSize
	})
}
