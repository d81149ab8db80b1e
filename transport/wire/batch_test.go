package wire_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestServerFindsWhatIsWrongWithABatch(t *testing.T) {
	t.Parallel()
	sound, err := wire.AppendBatch(nil, &wire.Producer{ID: 1}, []wire.Message{hello, world})
	require.NoError(t, err)
	second := wire.BatchHeaderSize + wire.MessageHeaderSize + len(hello.Payload) // where the second message begins
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		field  string
		err    error
	}{
		"no header":          {func(b []byte) []byte { return b[:255] }, "batch header", wire.ErrShort},
		"length too small":   {put64(32, 255), "batch length", wire.ErrLength},
		"length too large":   {put64(32, wire.MaxRecordSize+1), "batch length", wire.ErrLength},
		"length of another":  {func(b []byte) []byte { return b[:len(b)-1] }, "batch length", wire.ErrLength},
		"no message":         {put32(48, 0), "message count", wire.ErrLength},
		"fewer messages":     {put32(48, 1), "messages of the batch", wire.ErrTrailing},
		"more messages":      {put32(48, 3), "message header", wire.ErrShort},
		"another count":      {put32(48, 1<<32-1), "message header", wire.ErrShort},
		"flags":              {put8(52, 3), "batch flags", wire.ErrValue},
		"reserved after":     {put8(55, 1), "reserved bytes of the batch", wire.ErrValue},
		"reserved between":   {put8(66, 1), "reserved bytes of the batch", wire.ErrValue},
		"reserved at end":    {put8(255, 1), "reserved bytes of the batch", wire.ErrValue},
		"producer unflagged": {put8(52, 0), "producer", wire.ErrValue},
		"producer id":        {put64(56, 1<<63), "producer id", wire.ErrValue},
		"producer epoch":     {put8(65, 0x80), "producer epoch", wire.ErrValue},
		"base sequence":      {put32(68, 1<<31), "base sequence", wire.ErrValue},
		"partition":          {put8(0, 1), "batch checksum", wire.ErrBatchChecksum},
		"batch checksum":     {put8(40, 0), "batch checksum", wire.ErrBatchChecksum},
		"payload":            {put8(second+50, 1), "message checksum", wire.ErrFrameChecksum},
		"message checksum":   {put8(second, 0), "message checksum", wire.ErrFrameChecksum},
		"offset delta":       {put8(second+24, 2), "offset delta", wire.ErrValue},
		"headers too large":  {put32(second+32, wire.MaxUserHeadersSize+1), "user headers length", wire.ErrLength},
		"payload too large":  {put32(second+36, wire.MaxPayloadSize+1), "payload length", wire.ErrLength},
		"payload too long":   {put32(second+36, 1000), "payload", wire.ErrShort},
		"reserved":           {put8(second+47, 1), "reserved bytes of the message", wire.ErrValue},
	} {
		_, err := wire.VerifyBatch(c.change(bytes.Clone(sound)))
		require.ErrorIs(t, err, c.err, name)
		require.ErrorContains(t, err, c.field+" at byte ", name)
	}
	_, err = wire.VerifyBatch(sound)
	require.NoError(t, err)
}

func put8(at int, v byte) func([]byte) []byte {
	return func(b []byte) []byte { b[at] = v; return b }
}

func put32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
}

func put64(at int, v uint64) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
}

func TestReadingStopsAtWhatIsNoBatch(t *testing.T) {
	t.Parallel()
	batch, err := wire.AppendBatch(nil, nil, []wire.Message{hello, world})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		input  []byte
		read   int
		offset int
		err    error
	}{
		"nothing":        {nil, 0, 0, nil},
		"half a header":  {append(bytes.Clone(batch), batch[:100]...), 2, len(batch), wire.ErrShort},
		"half a message": {append(bytes.Clone(batch), batch[:300]...), 2, len(batch) + wire.BatchHeaderSize, wire.ErrShort},
		"too few":        {put32(48, 3)(bytes.Clone(batch)), 2, len(batch), wire.ErrShort},
		"too many":       {put32(48, 1)(bytes.Clone(batch)), 1, wire.BatchHeaderSize + 53, wire.ErrTrailing},
		"none counted":   {put32(48, 0)(bytes.Clone(batch)), 0, wire.BatchHeaderSize, wire.ErrTrailing},
	} {
		read := 0
		r := wire.NewRecords(c.input)
		for r.Next() {
			read++
		}
		require.Equal(t, c.read, read, name)
		require.ErrorIs(t, r.Err(), c.err, name)
		require.False(t, r.Next(), "the walk has ended")
		if c.err != nil {
			var field *wire.FieldError
			require.ErrorAs(t, r.Err(), &field, name)
			require.Equal(t, c.offset, field.Offset, name)
		}
	}
}

func TestMessageThatDoesNotMatchItsChecksumIsToldOnRequest(t *testing.T) {
	t.Parallel()
	batch, err := wire.AppendBatch(nil, nil, []wire.Message{hello, world})
	require.NoError(t, err)
	batch[wire.BatchHeaderSize+wire.MessageHeaderSize] ^= 1
	r := wire.NewRecords(batch)
	require.True(t, r.Next())
	require.ErrorIs(t, r.Verify(), wire.ErrFrameChecksum)
	require.ErrorContains(t, r.Verify(), "at byte 256")
	require.True(t, r.Next())
	require.NoError(t, r.Verify())
	require.EqualValues(t, 2, r.Batch().Count)
}

func TestSliceOfAStoredBatchHasWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	batch, err := wire.AppendBatch(nil, nil, manyMessages(10))
	require.NoError(t, err)
	require.NoError(t, wire.StampBatch(batch, 3, 100, goldenTime))
	for name, c := range map[string]struct {
		from        uint64
		most        uint32
		first, last uint64
	}{
		"all":             {0, 100, 100, 109},
		"from the middle": {104, 100, 104, 109},
		"the last":        {109, 1, 109, 109},
		"a few":           {102, 3, 102, 104},
	} {
		slice, n, err := wire.AppendSlice([]byte("before"), batch, c.from, c.most)
		require.NoError(t, err, name)
		require.Equal(t, "before", string(slice[:6]), name)
		var offsets []uint64
		r := wire.NewRecords(slice[6:])
		for r.Next() {
			require.NoError(t, r.Verify(), name)
			offsets = append(offsets, r.Message().Offset)
		}
		require.NoError(t, r.Err(), name)
		require.Len(t, offsets, int(n), name)
		require.EqualValues(t, n, r.Batch().Count)
		require.Equal(t, []uint64{c.first, c.last}, []uint64{offsets[0], offsets[n-1]}, name)
	}
	for _, none := range []struct {
		from uint64
		most uint32
	}{{110, 10}, {100, 0}} {
		slice, n, err := wire.AppendSlice(nil, batch, none.from, none.most)
		require.NoError(t, err)
		require.Zero(t, n)
		require.Empty(t, slice)
	}
	_, _, err = wire.AppendSlice(nil, batch[:len(batch)-1], 0, 100)
	require.ErrorIs(t, err, wire.ErrShort)
	_, _, err = wire.AppendSlice(nil, batch[:10], 0, 100)
	require.ErrorIs(t, err, wire.ErrShort)
}

func TestBatchThatTheProtocolCannotHoldIsRefused(t *testing.T) {
	t.Parallel()
	far := hello
	far.OriginTimestamp += 1 << 32
	near := hello
	near.OriginTimestamp += 1<<32 - 1
	payload := make([]byte, wire.MaxPayloadSize+1)
	for name, c := range map[string]struct {
		producer *wire.Producer
		messages []wire.Message
		err      error
	}{
		"no message":             {nil, nil, wire.ErrLength},
		"times far apart":        {nil, []wire.Message{far, hello}, wire.ErrTimestampSpread},
		"times just not too far": {nil, []wire.Message{near, hello}, nil},
		"payload too large":      {nil, []wire.Message{{Payload: payload}}, wire.ErrLength},
		"headers too large":      {nil, []wire.Message{{UserHeaders: payload[:wire.MaxUserHeadersSize+1]}}, wire.ErrLength},
		"all too large":          {nil, []wire.Message{{Payload: payload[1:]}, {Payload: payload[:100_000]}}, wire.ErrLength},
		"producer id":            {&wire.Producer{ID: 1 << 63}, []wire.Message{hello}, wire.ErrValue},
		"producer epoch":         {&wire.Producer{Epoch: 1 << 15}, []wire.Message{hello}, wire.ErrValue},
		"base sequence":          {&wire.Producer{BaseSequence: 1 << 31}, []wire.Message{hello}, wire.ErrValue},
	} {
		got, err := wire.AppendBatch([]byte("before"), c.producer, c.messages)
		require.ErrorIs(t, err, c.err, name)
		if c.err != nil {
			require.Equal(t, "before", string(got), name)
		}
	}
}

func TestStampingWantsABatch(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, wire.StampBatch(nil, 0, 0, 0), wire.ErrShort)
	batch, err := wire.AppendBatch(nil, nil, []wire.Message{hello})
	require.NoError(t, err)
	require.ErrorIs(t, wire.StampBatch(batch[:len(batch)-1], 0, 0, 0), wire.ErrShort)
}

func TestLastOffsetIsThatOfTheLastBatch(t *testing.T) {
	t.Parallel()
	var records []byte
	for _, base := range []uint64{3, 5} {
		batch, err := wire.AppendBatch(nil, nil, []wire.Message{{ID: wire.Uint128{Lo: 1}}, {ID: wire.Uint128{Lo: 2}}})
		require.NoError(t, err)
		require.NoError(t, wire.StampBatch(batch, 0, base, 1))
		records = append(records, batch...)
	}
	require.EqualValues(t, 6, wire.LastOffset(records))
	require.EqualValues(t, 4, wire.LastOffset(records[:len(records)/2]))
	require.Zero(t, wire.LastOffset(nil))
}
