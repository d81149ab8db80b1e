package wire_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// decoders are all decoders of bodies and of their parts, in an order that stays the same.
func decoders() []decoder {
	all := []decoder{
		decoderOf[wire.Identifier](), decoderOf[wire.Consumer](), decoderOf[wire.Partitioning](), decoderOf[wire.PollingStrategy](),
		decoderOf[wire.OptionalPartition](), decoderOf[wire.PartitionContext](), decoderOf[wire.ClientInfo](),
		decoderOf[wire.Options](), decoderOf[wire.Permissions](),
	}
	bodies := bodiesByCommand()
	commands := make([]wire.Command, 0, len(bodies))
	for c := range bodies {
		commands = append(commands, c)
	}
	slices.Sort(commands)
	for _, c := range commands {
		for _, d := range []decoder{bodies[c].request, bodies[c].reply} {
			if d != nil {
				all = append(all, d)
			}
		}
	}
	return all
}

// FuzzBodies wants that no input makes a decoder of a body panic, and that what it reads is the same when it is encoded and
// read again.
func FuzzBodies(f *testing.F) {
	all := decoders()
	seeds := make([]int, len(all)) // a decoder
	for _, v := range loadVectors(f) {
		for i, decode := range all {
			if _, err := decode(v.bytes); err == nil && len(v.bytes) > 0 && seeds[i] < 2 {
				f.Add(uint8(i), v.bytes)
				seeds[i]++
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, input []byte) {
		decode := all[int(which)%len(all)]
		v, err := decode(input)
		if err != nil {
			wantFieldError(t, err, len(input))
			return
		}
		first, err := wire.Append(nil, v)
		require.NoError(t, err)
		again, err := decode(first)
		require.NoError(t, err)
		second, err := wire.Append(nil, again)
		require.NoError(t, err)
		require.Equal(t, first, second)
	})
}

// wantFieldError wants an error that says what is wrong at which byte of the input.
func wantFieldError(t *testing.T, err error, input int) {
	t.Helper()
	var field *wire.FieldError
	require.ErrorAs(t, err, &field)
	require.NotEmpty(t, field.Field)
	require.LessOrEqual(t, field.Offset, max(input, wire.BatchHeaderSize))
	require.Error(t, field.Err)
}

// FuzzFrames wants the same of whole frames, of headers, and of result sections.
func FuzzFrames(f *testing.F) {
	for _, v := range loadVectors(f) {
		if len(v.bytes) >= wire.HeaderSize {
			f.Add(v.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if _, err := wire.DecodePrefix(input, wire.MaxReplySize); err != nil {
			wantFieldError(t, err, len(input))
		}
		if h, body, err := wire.DecodeRequest(input); err == nil {
			_ = h.Validate()
			frame, err := wire.AppendRequest(nil, h, nil)
			require.NoError(t, err)
			frame = append(frame, body...)
			require.NoError(t, wire.SetSize(frame))
			again, rest, err := wire.DecodeRequest(frame)
			require.NoError(t, err)
			require.Equal(t, h, again)
			require.Equal(t, body, rest)
			_, _, _ = wire.DecodeLogin(body)
		}
		if h, body, err := wire.DecodeReply(input); err == nil {
			if _, payload, err := h.Result(body); err == nil {
				require.LessOrEqual(t, len(payload), len(body))
			} else {
				wantFieldError(t, err, len(body))
			}
		}
		if e, err := wire.DecodeEviction(input); err == nil {
			again, err := wire.DecodeEviction(wire.AppendEviction(nil, e))
			require.NoError(t, err)
			require.Equal(t, e, again)
		}
	})
}

// FuzzBatches wants the same of batches and user headers, and that a batch that passes as sound can be stored and cut.
func FuzzBatches(f *testing.F) {
	for _, v := range loadVectors(f) {
		if v.Kind == "batch" || v.Kind == "header" {
			f.Add(v.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		readHeaders(t, input)
		readMessages(t, input)
		h, err := wire.VerifyBatch(input)
		if err != nil {
			wantFieldError(t, err, len(input))
			return
		}
		batch := bytes.Clone(input)
		require.NoError(t, wire.StampBatch(batch, 1, 100, 7))
		_, err = wire.VerifyBatch(batch)
		require.NoError(t, err)
		_, n, err := wire.AppendSlice(nil, batch, 100, h.Count)
		require.NoError(t, err)
		require.Equal(t, h.Count, n)
	})
}

// readMessages wants that messages that can be read are the same when they are made into a batch and read again.
func readMessages(t *testing.T, input []byte) {
	t.Helper()
	var read []wire.Message
	r := wire.NewRecords(input)
	for r.Next() {
		m := r.Message()
		readHeaders(t, m.UserHeaders)
		_ = r.Verify()
		read = append(read, m)
	}
	if err := r.Err(); err != nil {
		wantFieldError(t, err, len(input))
	}
	batch, err := wire.AppendBatch(nil, nil, read)
	if len(read) == 0 || errors.Is(err, wire.ErrTimestampSpread) {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	_, err = wire.VerifyBatch(batch)
	require.NoError(t, err)
	r = wire.NewRecords(batch)
	for i := range read {
		require.True(t, r.Next())
		m := r.Message()
		m.Offset, m.Timestamp, m.Checksum = read[i].Offset, read[i].Timestamp, read[i].Checksum
		require.Equal(t, read[i], m)
	}
	require.False(t, r.Next())
}

func readHeaders(t *testing.T, block []byte) {
	t.Helper()
	headers, err := wire.DecodeUserHeaders(nil, block)
	if err != nil {
		wantFieldError(t, err, len(block))
		return
	}
	first, err := wire.AppendUserHeaders(nil, headers)
	if errors.Is(err, wire.ErrDuplicate) {
		return
	}
	require.NoError(t, err)
	require.Len(t, first, len(block))
	again, err := wire.DecodeUserHeaders(nil, first)
	require.NoError(t, err)
	second, err := wire.AppendUserHeaders(nil, again)
	require.NoError(t, err)
	require.Equal(t, first, second)
}
