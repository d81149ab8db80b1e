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
	return group{
		title:      "decode: a line of NDJSON to a struct, one goroutine",
		n:          1_000_000,
		unit:       "records/s",
		want:       func(n int) int64 { return int64(n) },
		contenders: decoders[flight](splitLines(text)),
	}, nil
}

// wideText is a feature of a GeoJSON file of earthquakes (USGS, public domain).
const wideText = `{"type":"Feature","properties":{"mag":1.62,"place":"8km NW of The Geysers, CA","time":1507425650893,"updated":1507425747007,` +
	`"tz":-480,"url":"https://earthquake.usgs.gov/earthquakes/eventpage/nc72904896","detail":"https://earthquake.usgs.gov/earthquakes/feed/v1.0/` +
	`detail/nc72904896.geojson","felt":null,"cdi":null,"mmi":null,"alert":null,"status":"automatic","tsunami":0,"sig":40,"net":"nc","code":` +
	`"72904896","ids":",nc72904896,","sources":",nc,","types":",geoserve,nearby-cities,origin,phase-data,","nst":13,"dmin":0.0038,"rms":0.05,` +
	`"gap":93,"magType":"md","type":"earthquake","title":"M 1.6 - 8km NW of The Geysers, CA"},"geometry":{"type":"Point","coordinates":` +
	`[-122.81,38.84,2.11]},"id":"nc72904896"}`

// quake has seven of the thirty-odd members of wideText.
type quake struct {
	ID         string `json:"id"`
	Properties struct {
		Magnitude float64 `json:"mag"`
		Place     string  `json:"place"`
		Time      int64   `json:"time"`
	} `json:"properties"`
	Geometry struct {
		Coordinates []float64 `json:"coordinates"`
	} `json:"geometry"`
}

// wideGroup reads texts most of which the struct has no place for.
func wideGroup(settings) (group, error) {
	return group{
		title:      "wide: nested JSON of 32 members, 7 of them wanted, one goroutine",
		n:          300_000,
		unit:       "records/s",
		want:       func(n int) int64 { return int64(n) },
		contenders: decoders[quake]([][]byte{[]byte(wideText)}),
	}, nil
}

func decoders[T any](lines [][]byte) []contender {
	reader := func(label string, decode func([]byte, *T) error) contender {
		return entry{label: label, work: func(_ context.Context, n int) (int64, error) { return decodeAll(lines, n, decode) }}
	}
	return []contender{
		reader("internal/codec", codec.Decoder[T]()),
		reader("encoding/json", func(b []byte, v *T) error { return stdjson.Unmarshal(b, v) }),
		reader("goccy/go-json v0.12.0", func(b []byte, v *T) error { return goccy.Unmarshal(b, v) }),
		reader("bytedance/sonic v1.15.5", func(b []byte, v *T) error { return sonic.ConfigDefault.Unmarshal(b, v) }),
		reader("bytedance/sonic v1.15.5, as encoding/json", func(b []byte, v *T) error { return sonic.ConfigStd.Unmarshal(b, v) }),
		reader("segmentio/encoding v0.5.4", func(b []byte, v *T) error { return segment.Unmarshal(b, v) }),
	}
}

func decodeAll[T any](lines [][]byte, n int, decode func([]byte, *T) error) (count int64, err error) {
	batch := make([]T, batchSize)
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
