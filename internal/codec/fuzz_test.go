package codec_test

import "testing"

// FuzzAgainstEncodingJSON reads one text into every type of the table, by this package and by encoding/json, and writes the result
// by both.
func FuzzAgainstEncodingJSON(f *testing.F) {
	for _, text := range texts() {
		if len(text) < 1_000 {
			f.Add([]byte(text))
		}
	}
	all := comparisons()
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, c := range all {
			c.check(t, text)
		}
	})
}
