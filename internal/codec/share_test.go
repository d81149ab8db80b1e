package codec_test

import (
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
