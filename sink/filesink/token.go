package filesink

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/internal/fileconn"
)

// tokenVersion is the first byte of a token; the rest is its JSON form.
const tokenVersion = 1

// token is what a checkpoint holds of a sink: the file that is open and its length, and the files that are finished and
// get their names when the checkpoint is committed.
type token struct {
	// Path is the name, or the pattern of names, as it was given to the sink.
	Path string `json:"path"`
	// Rolls says that files are numbered.
	Rolls bool `json:"rolls,omitempty"`
	// Packing is how the content is compressed.
	Packing fileconn.Packing `json:"packing,omitempty"`
	// Header is what each file begins with.
	Header string `json:"header,omitempty"`
	// Open is the file that records go to.
	Open mark `json:"open"`
	// Done are the files that are finished and have no name yet.
	Done []mark `json:"done,omitempty"`
}

// mark is the place in a file up to which it is written.
type mark struct {
	fileconn.Mark
	// Number is that of the file, if files are numbered.
	Number int `json:"number,omitempty"`
	// Records is how many the sink wrote to it.
	Records int64 `json:"records"`
	// Found is how many bytes were there before the sink came.
	Found int64 `json:"found,omitempty"`
	// File is the identity of a single file.
	File fileconn.FileID `json:"file,omitzero"`
	// Since is when the first record came.
	Since time.Time `json:"since,omitzero"`
}

// empty says that nothing would be lost with the file but what every file begins with.
func (m mark) empty() bool { return m.Records == 0 && m.Found == 0 }

func (t *token) encode() ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return append([]byte{tokenVersion}, text...), nil
}

// decodeToken reads a token; nil gives nil.
func decodeToken(b []byte) (*token, error) {
	if b == nil {
		return nil, nil
	}
	if len(b) == 0 || b[0] != tokenVersion {
		return nil, errors.New("token of an unknown version")
	}
	t := &token{}
	if err := json.Unmarshal(b[1:], t); err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	if t.Open.Size < 0 || t.Open.Number < 0 {
		return nil, errors.New("token: negative length")
	}
	return t, nil
}
