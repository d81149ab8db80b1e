package codec_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestResultsAndRefusalsAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, c := range comparisons() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range texts() {
				c.check(t, []byte(text))
			}
		})
	}
}

func TestCutAndChangedTextsAreTreatedAsByEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, c := range comparisons() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			for _, text := range texts() {
				if len(text) > 300 {
					continue
				}
				for range 20 {
					c.check(t, mutate(r, text))
				}
			}
		})
	}
}

// mutate returns text with a few bytes removed, replaced, doubled or put in.
func mutate(r *rand.Rand, text string) []byte {
	const bytesOfJSON = `{}[]:,"\/ue0123456789.-+Einltrfas` + "\n\t \x00\xc3\xa9\xff"
	b := []byte(text)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		at := r.IntN(len(b))
		c := bytesOfJSON[r.IntN(len(bytesOfJSON))]
		switch r.IntN(5) {
		case 0:
			b = b[:at]
		case 1:
			b[at] = c
		case 2:
			b = append(b[:at], b[at+1:]...)
		case 3:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		case 4:
			end := min(len(b), at+r.IntN(12))
			b = append(b[:end], append(bytes.Clone(b[at:end]), b[end:]...)...)
		}
	}
	return b
}
