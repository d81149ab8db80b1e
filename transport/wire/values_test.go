package wire_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestValuesAreReadAsTheirKind(t *testing.T) {
	t.Parallel()
	wide := wire.Uint128{Hi: 1 << 63, Lo: 5}
	for _, c := range []struct {
		value wire.Value
		want  any // nil for a value that none of the methods reads
	}{
		{wire.RawValue([]byte{1}), nil},
		{wire.StringValue("text"), "text"},
		{wire.BoolValue(true), true},
		{wire.BoolValue(false), false},
		{wire.Int8Value(-5), int64(-5)},
		{wire.Int16Value(math.MinInt16), int64(math.MinInt16)},
		{wire.Int32Value(-70000), int64(-70000)},
		{wire.Int64Value(math.MinInt64), int64(math.MinInt64)},
		{wire.Int64Value(math.MaxInt64), int64(math.MaxInt64)},
		{wire.Uint8Value(255), uint64(255)},
		{wire.Uint16Value(60000), uint64(60000)},
		{wire.Uint32Value(math.MaxUint32), uint64(math.MaxUint32)},
		{wire.Uint64Value(math.MaxUint64), uint64(math.MaxUint64)},
		{wire.Int128Value(wide), wide},
		{wire.Uint128Value(wide), wide},
		{wire.Float32Value(1.5), 1.5},
		{wire.Float64Value(-2.25), -2.25},
		{wire.Value{Kind: wire.KindBool, Data: []byte{2}}, nil},
		{wire.Value{Kind: wire.KindBool}, nil},
		{wire.Value{Kind: wire.KindUint32, Data: []byte{1, 2, 3}}, nil},
		{wire.Value{Kind: wire.KindInt64, Data: []byte{1}}, nil},
		{wire.Value{Kind: wire.KindUint128, Data: []byte{1}}, nil},
		{wire.Value{Kind: wire.KindFloat64, Data: []byte{1}}, nil},
		{wire.Value{Kind: 99, Data: []byte{1}}, nil},
	} {
		require.Equal(t, c.want, read(t, c.value), "%s %x", c.value.Kind, c.value.Data)
	}
}

// read returns what the one method returns that reads the value.
func read(t *testing.T, v wire.Value) (got any) {
	t.Helper()
	add := func(read any, ok bool) {
		if ok {
			require.Nil(t, got, "two methods read one value")
			got = read
		}
	}
	text, ok := v.Text()
	add(text, ok)
	truth, ok := v.Bool()
	add(truth, ok)
	signed, ok := v.Int()
	add(signed, ok)
	unsigned, ok := v.Uint()
	add(unsigned, ok)
	number, ok := v.Wide()
	add(number, ok)
	float, ok := v.Float()
	add(float, ok)
	return got
}

func TestKindsOfLaterServersSurvive(t *testing.T) {
	t.Parallel()
	headers := []wire.UserHeader{{Key: wire.Value{Kind: 77, Data: []byte{1}}, Value: wire.Value{Kind: 200, Data: []byte{2, 3}}}}
	block, err := wire.AppendUserHeaders(nil, headers)
	require.NoError(t, err)
	got, err := wire.DecodeUserHeaders(nil, block)
	require.NoError(t, err)
	require.Equal(t, headers, got)
	require.Equal(t, "kind 200", got[0].Value.Kind.String())

	options := wire.Options{{Key: "later", Value: wire.Value{Kind: 200, Data: []byte{2, 3}}}}
	block, err = wire.Append(nil, &options)
	require.NoError(t, err)
	read, err := wire.Decode[wire.Options](block)
	require.NoError(t, err)
	require.Equal(t, options, read)
	block[len(block)-1] = 9
	require.Equal(t, options, read, "options are no views of the input")
	value, found := read.Find("later")
	require.True(t, found)
	require.Equal(t, options[0].Value, value)
	_, found = read.Find("other")
	require.False(t, found)
}

func TestOptionsAreBoundedBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	_, err := wire.Decode[wire.Options](make([]byte, wire.MaxOptionsSize+1))
	require.Equal(t, &wire.FieldError{Field: "options", Err: wire.ErrLength}, err)
	_, err = wire.Decode[wire.Options](bytes.Repeat(mustHex("0201000000610301000000ff"), wire.MaxOptions+1))
	require.ErrorIs(t, err, wire.ErrLength)
}

func TestUserHeadersAreBounded(t *testing.T) {
	t.Parallel()
	one := wire.UserHeader{Key: wire.StringValue("k"), Value: wire.StringValue("v")}
	_, err := wire.AppendUserHeaders(nil, []wire.UserHeader{one, one})
	require.ErrorIs(t, err, wire.ErrDuplicate)
	got, err := wire.AppendUserHeaders([]byte("before"), []wire.UserHeader{{Key: wire.StringValue("k")}})
	require.ErrorIs(t, err, wire.ErrLength)
	require.Equal(t, "before", string(got))

	var many []wire.UserHeader
	for i := range 400 {
		many = append(many, wire.UserHeader{
			Key: wire.Uint16Value(uint16(i)), Value: wire.RawValue(bytes.Repeat([]byte{1}, 255)),
		})
	}
	_, err = wire.AppendUserHeaders(nil, many)
	require.ErrorIs(t, err, wire.ErrLength)
	_, err = wire.DecodeUserHeaders(nil, make([]byte, wire.MaxUserHeadersSize+1))
	require.ErrorIs(t, err, wire.ErrLength)
	for _, block := range []string{"02", "0200000000", "020001000000", "0201000000", "02010000006b", "02010000006b0200000000"} {
		room := make([]wire.UserHeader, 0, 4)
		headers, err := wire.DecodeUserHeaders(append(room, one), mustHex(block))
		require.Error(t, err, block)
		require.Equal(t, []wire.UserHeader{one}, headers, block)
	}
}

func TestNamesOfCodesAndNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]interface{ String() string }{
		"StreamNameAlreadyExists":          wire.CodeStreamNameAlreadyExists,
		"FetchProgressUncertain":           wire.CodeFetchProgressUncertain,
		"code 60":                          wire.Code(60),
		"SendMessages":                     wire.OpSendMessages,
		"operation 129":                    wire.Operation(129),
		"message.poll":                     wire.CmdPollMessages,
		"command 107":                      wire.Command(107),
		"stale client":                     wire.EvictStaleClient,
		"eviction 16":                      wire.EvictReason(16),
		"0.12.0":                           wire.Version0120,
		"1.2.1023":                         wire.MakeVersion(1, 2, 1023),
		"uint128":                          wire.KindUint128,
		"orders":                           wire.Named("orders"),
		"4294967295":                       wire.ID(math.MaxUint32),
		"00112233445566778899aabbccddeeff": goldenClient,
	} {
		require.Equal(t, want, got.String())
	}
	require.True(t, wire.CodeHistoryUnavailable.Known())
	require.False(t, wire.Code(86).Known())
	require.Equal(t, wire.CodeDisconnected, wire.EvictReason(16).Code())
	require.Equal(t, wire.OpNonReplicated, wire.Command(107).Operation())
	require.Less(t, wire.Version0120, wire.Version0122)
	require.Equal(t, []int{0, 12, 2}, []int{wire.Version0122.Major(), wire.Version0122.Minor(), wire.Version0122.Patch()})
	_, known := wire.KindNamed("uint256")
	require.False(t, known)
}

func TestRandomMessageIDsAreUUIDsOfVersion4(t *testing.T) {
	t.Parallel()
	for _, random := range [][16]byte{{}, [16]byte(bytes.Repeat([]byte{0xff}, 16))} {
		id := wire.UUIDv4(random)
		require.False(t, id.IsZero())
		batch, err := wire.AppendBatch(nil, nil, []wire.Message{{ID: id}})
		require.NoError(t, err)
		uuid := batch[wire.BatchHeaderSize+8:]
		require.EqualValues(t, 4, uuid[6]>>4, "the version")
		require.EqualValues(t, 2, uuid[8]>>6, "the variant")
		require.Equal(t, random[0], uuid[0], "the bytes keep their order")
	}
	require.True(t, wire.Uint128{}.IsZero())
}

func TestSealerWantsAKeyOfItsSize(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 16, 31, 33} {
		_, err := wire.NewSealer(make([]byte, n))
		require.ErrorIs(t, err, wire.ErrLength)
	}
}

func TestChecksumOfARequestFollowsItsBody(t *testing.T) {
	t.Parallel()
	// XXH3-64 of no bytes and of "a", as the specification of xxHash has it.
	require.Equal(t, wire.Uint128{Lo: 0x2d06800538d394c2}, wire.RequestChecksum(nil))
	require.Equal(t, wire.Uint128{Lo: 0xe6c632b61e964e1f}, wire.RequestChecksum([]byte("a")))
}
