package filesource

import "github.com/runnel-go/runnel/internal/codec"

// ParseJSON returns a function that reads one JSON text, for a stage behind [Lines] that decodes with several workers:
//
//	flow.Decode(lines, filesource.ParseJSON[Flight](), runnel.Parallel(2))
//
// The results are those of encoding/json. Strings in them share the memory of the line, as lines of a fetch do with each
// other: who keeps a few of many copies them with strings.Clone. [NDJSON] decodes in the goroutine that reads.
func ParseJSON[T any]() func(line string, to *T) error { return codec.StringDecoder[T]() }
