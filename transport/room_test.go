package transport_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
)

func TestRoomUsesTheMemoryOfAFrameAgain(t *testing.T) {
	t.Parallel()
	room := &transport.Room{}
	read := func(text string) transport.Frame {
		sent := transporttest.Request(1, text)
		got, err := transport.ReadFrame(bytes.NewReader(sent), 64<<20, room)
		require.NoError(t, err)
		require.Equal(t, sent, got)
		return got
	}
	long := strings.Repeat("a", 100<<10)
	first := read(long)
	require.NotSame(t, &first[0], &read(long)[0], "nobody has given it back")
	room.Recycle(first)
	require.NotSame(t, &first[0], &read("short")[0], "a short frame leaves it to long ones")
	require.NotSame(t, &first[0], &read(long + "b")[0], "it is too short")
	again := read(strings.Repeat("b", 90<<10))
	require.Same(t, &first[0], &again[0])
	require.NotSame(t, &first[0], &read(long)[0], "once")
}

func TestRoomKeepsAFewFramesOfMiddleLength(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{transport.FrameRoom: 0, 100 << 10: 4, 9 << 20: 0} {
		room := &transport.Room{}
		given := map[*byte]bool{}
		for range 10 {
			frame := make(transport.Frame, size)
			given[&frame[0]] = true
			room.Recycle(frame)
		}
		used := 0
		for range 10 {
			got, err := transport.ReadFrame(bytes.NewReader(transporttest.Request(1, strings.Repeat("a", size-transport.HeaderBytes))), 64<<20, room)
			require.NoError(t, err)
			if given[&got[0]] {
				delete(given, &got[0])
				used++
			}
		}
		require.Equal(t, want, used, size)
	}
}
