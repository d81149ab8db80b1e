package transport_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFrameShorterThanItsHeaderHasZeroFields(t *testing.T) {
	t.Parallel()
	for n := range transport.HeaderBytes {
		f := transporttest.Eviction(13)[:n]
		require.Zero(t, f.Command())
		require.Zero(t, f.RequestID())
		require.Zero(t, f.Reason())
		require.Nil(t, f.Body())
		require.ErrorIs(t, f.Check(1000), transport.ErrProtocol)
	}
	require.Zero(t, transport.Frame(nil).Size())
}

func TestFrameKnowsItsFieldsByItsCommand(t *testing.T) {
	t.Parallel()
	request := transporttest.Request(1<<63+5, "body")
	require.EqualValues(t, 260, request.Size())
	require.Equal(t, transport.CommandRequest, request.Command())
	require.Equal(t, uint64(1<<63+5), request.RequestID())
	require.Equal(t, "body", string(request.Body()))
	require.Zero(t, request.Reason())
	require.EqualValues(t, 6, transporttest.Reply(6, "").RequestID())
	require.EqualValues(t, 7, transporttest.Eviction(7).Reason())
	require.Zero(t, transporttest.Eviction(7).RequestID())
}

func TestReadFrameKeepsFramesApart(t *testing.T) {
	t.Parallel()
	frames := []transport.Frame{
		transporttest.Request(1, ""),
		transporttest.Request(2, strings.Repeat("a", 5<<20)),
		transporttest.Request(3, "b"),
	}
	stream := bytes.Join([][]byte{frames[0], frames[1], frames[2]}, nil)
	for name, r := range map[string]io.Reader{
		"at once":       bytes.NewReader(stream),
		"in halves":     iotest.HalfReader(bytes.NewReader(stream)),
		"with its end":  iotest.DataErrReader(bytes.NewReader(stream)),
		"by eight byte": &chunks{stream},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, want := range frames {
				got, err := transport.ReadFrame(r, 6<<20, nil)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got))
			}
			_, err := transport.ReadFrame(r, 6<<20, nil)
			require.Equal(t, io.EOF, err)
		})
	}
}

// chunks gives eight bytes a read at most.
type chunks struct{ rest []byte }

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(8, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

func TestReadFrameRefusesALengthBeforeItTakesMemory(t *testing.T) {
	for _, size := range []uint32{0, 255, 1001, 1<<32 - 1} {
		frame := transporttest.Sized(transport.CommandReply, size)
		r := bytes.NewReader(frame)
		allocated := testing.AllocsPerRun(10, func() {
			r.Reset(frame)
			_, _ = transport.ReadFrame(r, 1000, nil)
		})
		require.LessOrEqual(t, allocated, 7.0, "an error takes a little, a frame would take more")
		r.Reset(frame)
		_, err := transport.ReadFrame(r, 1000, nil)
		if size < 256 {
			require.ErrorIs(t, err, transport.ErrProtocol)
			continue
		}
		var tooLong *transport.SizeError
		require.ErrorAs(t, err, &tooLong)
		require.Equal(t, transport.SizeError{Size: size, Limit: 1000}, *tooLong)
	}
}

func TestReadFrameTakesMemoryAsItIsFilled(t *testing.T) {
	t.Parallel()
	promised := transporttest.Sized(transport.CommandReply, 60<<20)
	r := &grown{Reader: bytes.NewReader(promised)}
	_, err := transport.ReadFrame(r, 64<<20, nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.LessOrEqual(t, r.asked, transport.FrameRoom, "a header without a body got memory for all of it")
	require.LessOrEqual(t, r.asked, 64<<10, "many headers are sent at no cost: 256 over one connection of QUIC")
}

func TestReadFrameGivesRoomForAFrameThatWasCarriedBefore(t *testing.T) {
	t.Parallel()
	frame := transporttest.Request(1, strings.Repeat("a", 3<<20))
	r := &grown{Reader: bytes.NewReader(frame)}
	room := &transport.Room{}
	_, err := transport.ReadFrame(bytes.NewReader(frame), 64<<20, room)
	require.NoError(t, err)
	got, err := transport.ReadFrame(r, 64<<20, room)
	require.NoError(t, err)
	require.Equal(t, frame, got)
	require.Equal(t, len(frame)-transport.HeaderBytes, r.asked)
}

// grown keeps the most that a read had room for.
type grown struct {
	io.Reader
	asked int
}

func (g *grown) Read(p []byte) (int, error) {
	g.asked = max(g.asked, len(p))
	return g.Reader.Read(p)
}

func TestReadFrameTellsAnEndBetweenFramesFromOneInAFrame(t *testing.T) {
	t.Parallel()
	frame := transporttest.Request(1, "body")
	for n := range frame {
		_, err := transport.ReadFrame(bytes.NewReader(frame[:n]), 1000, nil)
		if n == 0 {
			require.Equal(t, io.EOF, err)
			continue
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NotErrorIs(t, err, io.EOF)
	}
	lost := io.ErrClosedPipe
	_, err := transport.ReadFrame(io.MultiReader(bytes.NewReader(frame[:258]), iotest.ErrReader(lost)), 1000, nil)
	require.ErrorIs(t, err, lost)
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte(transporttest.Request(1, "body")))
	f.Add([]byte(transporttest.Sized(transport.CommandReply, 255)))
	f.Add([]byte(transporttest.Sized(transport.CommandReply, 1<<31)))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	const limit = 4096
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		for {
			before := r.Len()
			frame, err := transport.ReadFrame(r, limit, nil)
			if err != nil {
				require.Nil(t, frame)
				return
			}
			require.NoError(t, frame.Check(limit))
			read := stream[len(stream)-before : len(stream)-r.Len()]
			require.True(t, bytes.Equal(read, frame), "a frame is what was read for it")
			require.EqualValues(t, binary.LittleEndian.Uint32(read[48:]), len(read))
		}
	})
}
