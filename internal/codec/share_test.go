package codec_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/runnel-go/runnel/internal/codec"
	"github.com/stretchr/testify/require"
)

func TestStringDecoderKeepsTheMemoryOfTheText(t *testing.T) {
	text := `{"id":1,"date":"2001-01-01T00:01:00","delay":33,"distance":2176,"origin":"LAS","destination":"P\u0048L"}`
	var f plainFlight
	decode := codec.StringDecoder[plainFlight]()
	require.NoError(t, decode(text, &f))
	require.Equal(t, "PHL", f.Destination, "what is escaped is copied")
	start, at := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(f.Origin)))
	require.True(t, at > start && at < start+uintptr(len(text)))
	f = plainFlight{}
	text = `{"id":1,"date":"2001-01-01T00:01:00","origin":"LAS"}`
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := decode(text, &f); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestPackedStringsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name string
		List []string
	}
	type target struct {
		First  string
		Inner  inner
		Behind *inner
		Last   string
	}
	decode := codec.PackingDecoder[target]()
	want, got := make([]target, 500), make([]target, 500)
	var text []byte
	for i := range want {
		s := strings.Repeat(string(rune('a'+i%26)), i*7%1500)
		want[i] = target{s, inner{s + "1", []string{s + "2"}}, &inner{Name: s + "3"}, s + "4"}
		var err error
		text, err = codec.Encoder[target]()(text[:0], &want[i]) // over the one before
		require.NoError(t, err)
		require.NoError(t, decode(text, &got[i]))
	}
	require.Equal(t, want, got)
}

func TestPackingTakesAnAllocationForManyValues(t *testing.T) {
	_, lines := sampleFlights(256)
	decode := codec.PackingDecoder[plainFlight]()
	var f plainFlight
	allocs := testing.AllocsPerRun(20, func() {
		for _, line := range lines {
			if err := decode(line, &f); err != nil {
				t.Fatal(err)
			}
		}
	})
	require.Less(t, allocs, 4.0, "256 flights have 25 bytes of strings each")
}
