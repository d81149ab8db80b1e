package checkpoint

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a save costs: on a disk it waits for two syncs; in a memory folder only its own work is left.
func BenchmarkSave(b *testing.B) {
	stores := map[string]func(b *testing.B) Store{
		"Dir":                    func(b *testing.B) Store { return Dir(b.TempDir()) },
		"Dir on a memory folder": func(*testing.B) Store { return newMemFolder().store() },
		"Memory":                 func(*testing.B) Store { return Memory() },
	}
	for name, store := range stores {
		b.Run(name, func(b *testing.B) {
			log, err := store(b).Open(ctx, "flights")
			require.NoError(b, err)
			b.ReportAllocs()
			c := flights(0, full("count", "a", "1"))
			for b.Loop() {
				c.Number++
				if err := log.Save(ctx, c); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, log.Close())
		})
	}
}

func largeState() *Checkpoint {
	put := make(map[string][]byte)
	for i := range 100_000 {
		put[fmt.Sprintf("key-%d", i)] = []byte("a value of some twenty bytes")
	}
	return flights(1, map[string]State{"count": {Full: true, Put: put}})
}

func BenchmarkEncodeHundredThousandEntries(b *testing.B) {
	c, e := largeState(), newEncoder()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.file(discard{}, header{link: link{number: 1, base: 1}}, c); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkDecodeHundredThousandEntries(b *testing.B) {
	file := encode(b, header{link: link{number: 1, base: 1}}, largeState())
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeFile(file); err != nil {
			b.Fatal(err)
		}
	}
}
