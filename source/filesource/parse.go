package filesource

import (
	"unsafe"

	"github.com/runnel-go/runnel/internal/codec"
)

// ParseJSON returns a function that reads one JSON text, for a stage behind [Lines] that decodes with several workers:
//
//	flow.Decode(lines, filesource.ParseJSON[Flight](), runnel.Parallel(2))
//
// The results are those of encoding/json. [NDJSON] does the same in the goroutine that reads.
func ParseJSON[T any]() func(line string, to *T) error {
	decode := codec.Decoder[T]()
	return func(line string, to *T) error {
		// The decoder only reads the bytes, and the result shares no memory with them.
		return decode(unsafe.Slice(unsafe.StringData(line), len(line)), to)
	}
}
