package main

import (
	"context"
	stdjson "encoding/json"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"
	segment "github.com/segmentio/encoding/json"

	"github.com/runnel-go/runnel/internal/codec"
)

// decodeGroup reads the flights, each from its line into a place of a batch.
func decodeGroup(s settings) (group, error) {
	text, err := loadFlights(s.source)
	if err != nil {
		return group{}, err
	}
	lines := splitLines(text)
	reader := func(label string, decode func([]byte, *flight) error) contender {
		return entry{label: label, work: func(_ context.Context, n int) (int64, error) { return decodeAll(lines, n, decode) }}
	}
	return group{
		title: "decode: a line of NDJSON to a struct, one goroutine",
		n:     1_000_000,
		unit:  "records/s",
		want:  func(n int) int64 { return int64(n) },
		contenders: []contender{
			reader("internal/codec", codec.Decoder[flight]()),
			reader("encoding/json", func(b []byte, f *flight) error { return stdjson.Unmarshal(b, f) }),
			reader("goccy/go-json v0.12.0", func(b []byte, f *flight) error { return goccy.Unmarshal(b, f) }),
			reader("bytedance/sonic v1.15.5", func(b []byte, f *flight) error { return sonic.ConfigDefault.Unmarshal(b, f) }),
			reader("bytedance/sonic v1.15.5, as encoding/json", func(b []byte, f *flight) error { return sonic.ConfigStd.Unmarshal(b, f) }),
			reader("segmentio/encoding v0.5.4", func(b []byte, f *flight) error { return segment.Unmarshal(b, f) }),
		},
	}, nil
}

func decodeAll(lines [][]byte, n int, decode func([]byte, *flight) error) (count int64, err error) {
	batch := make([]flight, batchSize)
	for i := range n {
		if err := decode(lines[i%len(lines)], &batch[i%batchSize]); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// encodeGroup writes flights, each as a line behind the last in a buffer.
func encodeGroup(s settings) (group, error) {
	text, err := loadFlights(s.source)
	if err != nil {
		return group{}, err
	}
	lines := splitLines(text)
	flights := make([]flight, len(lines))
	for i, line := range lines {
		if err := stdjson.Unmarshal(line, &flights[i]); err != nil {
			return group{}, err
		}
	}
	writer := func(label string, encode func([]byte, *flight) ([]byte, error)) contender {
		return entry{label: label, work: func(_ context.Context, n int) (int64, error) { return encodeAll(flights, n, encode) }}
	}
	marshaled := func(marshal func(any) ([]byte, error)) func([]byte, *flight) ([]byte, error) {
		return func(dst []byte, f *flight) ([]byte, error) {
			line, err := marshal(f)
			return append(dst, line...), err
		}
	}
	return group{
		title: "encode: a struct to a line of NDJSON, one goroutine",
		n:     2_000_000,
		unit:  "records/s",
		want:  func(n int) int64 { return int64(n) },
		contenders: []contender{
			writer("internal/codec", codec.Encoder[flight]()),
			writer("encoding/json", marshaled(stdjson.Marshal)),
			writer("goccy/go-json v0.12.0", marshaled(goccy.Marshal)),
			writer("bytedance/sonic v1.15.5, as encoding/json", marshaled(sonic.ConfigStd.Marshal)),
			writer("segmentio/encoding v0.5.4", func(dst []byte, f *flight) ([]byte, error) {
				return segment.Append(dst, f, segment.EscapeHTML)
			}),
		},
	}, nil
}

func encodeAll(flights []flight, n int, encode func([]byte, *flight) ([]byte, error)) (count int64, err error) {
	var dst []byte
	for i := range n {
		if len(dst) > 1<<16 {
			dst = dst[:0]
		}
		if dst, err = encode(dst, &flights[i%len(flights)]); err != nil {
			return count, err
		}
		dst = append(dst, '\n')
		count++
	}
	return count, nil
}
