package codec_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/runnel-go/runnel/internal/codec"
)

// plainFlight has the date as text, so that the codec and not the parsing of times is measured.
type plainFlight struct {
	ID          int    `json:"id"`
	Date        string `json:"date"`
	Delay       int    `json:"delay"`
	Distance    int    `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

// sampleFlights returns n flights and their lines.
func sampleFlights(n int) ([]plainFlight, [][]byte) {
	airports := []string{"LAS", "PHL", "ATL", "SAV", "MCI", "MDW", "ORD", "DFW"}
	start := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	flights := make([]plainFlight, n)
	lines := make([][]byte, n)
	for i := range flights {
		f := plainFlight{
			ID: i + 1, Date: start.Add(time.Duration(i) * time.Minute).Format("2006-01-02T15:04:05"), Delay: i%90 - 20,
			Distance: 100 + i*37%2400, Origin: airports[i%len(airports)], Destination: airports[(i*5+3)%len(airports)],
		}
		flights[i] = f
		lines[i] = fmt.Appendf(nil, `{"id":%d,"date":"%s","delay":%d,"distance":%d,"origin":"%s","destination":"%s"}`,
			f.ID, f.Date, f.Delay, f.Distance, f.Origin, f.Destination)
	}
	return flights, lines
}

func BenchmarkDecode(b *testing.B) {
	_, lines := sampleFlights(1024)
	for _, c := range []struct {
		name   string
		decode func([]byte, *plainFlight) error
	}{
		{"encoding-json", func(data []byte, v *plainFlight) error { return json.Unmarshal(data, v) }},
		{"codec", codec.Decoder[plainFlight]()},
		{"codec, packing", codec.PackingDecoder[plainFlight]()},
	} {
		b.Run(c.name, func(b *testing.B) {
			out := make([]plainFlight, len(lines))
			b.SetBytes(int64(len(lines[0])))
			b.ReportAllocs()
			for i := range b.N {
				at := i % len(lines)
				if err := c.decode(lines[at], &out[at]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	flights, lines := sampleFlights(1024)
	encode := codec.Encoder[plainFlight]()
	for _, c := range []struct {
		name   string
		encode func([]byte, *plainFlight) ([]byte, error)
	}{
		{"encoding-json", func(_ []byte, v *plainFlight) ([]byte, error) { return json.Marshal(v) }},
		{"codec", encode},
	} {
		b.Run(c.name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(lines[0])))
			b.ReportAllocs()
			for i := range b.N {
				var err error
				if dst, err = c.encode(dst[:0], &flights[i%len(flights)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
