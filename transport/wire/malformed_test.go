package wire_test

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

func TestDecodersSayWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	deferred := mustHex("01020361707002066f726465727302066576656e7473010000000005000000000000000001000000" + "00")
	waits := func(hex string) []byte { return append(bytes.Clone(deferred), mustHex(hex)...) }
	for _, c := range []struct {
		name   string
		decode decoder
		hex    string
		field  string
		offset int
		err    error
	}{
		{"identifier without bytes", decoderOf[wire.Identifier](), "", "identifier", 0, wire.ErrShort},
		{"identifier of an unknown kind", decoderOf[wire.Identifier](), "03040000", "identifier", 0, wire.ErrValue},
		{"number of another size", decoderOf[wire.Identifier](), "010307000000", "identifier", 2, wire.ErrLength},
		{"number that ends early", decoderOf[wire.Identifier](), "0104070000", "identifier", 2, wire.ErrShort},
		{"name of no bytes", decoderOf[wire.Identifier](), "0200", "identifier", 2, wire.ErrLength},
		{"name that ends early", decoderOf[wire.Identifier](), "02056162", "identifier", 2, wire.ErrShort},
		{"name that is not UTF-8", decoderOf[wire.Identifier](), "0201ff", "identifier", 3, wire.ErrText},
		{"bytes behind the last field", decoderOf[wire.Identifier](), "01040700000000", "end", 6, wire.ErrTrailing},
		{"body that should be empty", decoderOf[wire.Empty](), "00", "end", 0, wire.ErrTrailing},
		{"consumer of no kind", decoderOf[wire.Consumer](), "00010400000000", "consumer kind", 0, wire.ErrValue},
		{"flag that is neither", decoderOf[wire.OptionalPartition](), "0200000000", "partition flag", 0, wire.ErrValue},
		{"balanced with a value", decoderOf[wire.Partitioning](), "010100", "partitioning", 2, wire.ErrLength},
		{"key of no bytes", decoderOf[wire.Partitioning](), "0300", "partitioning", 2, wire.ErrLength},
		{"strategy of no kind", decoderOf[wire.PollingStrategy](), "06", "strategy kind", 0, wire.ErrValue},
		{"option whose key is a number", decoderOf[wire.Options](), "0901000000010901000000ff", "option key kind", 0, wire.ErrValue},
		{"option with a value of no bytes", decoderOf[wire.Options](), "0201000000610200000000", "option value", 7, wire.ErrLength},
		{"option that is there twice", decoderOf[wire.Options](), strings.Repeat("020100000061020100000062", 2), "options", 24, wire.ErrDuplicate},
		{"options longer than said", decoderOf[wire.Stream](), streamHex + "02000000" + "020100", "option key", 39, wire.ErrShort},
		{"topics that cannot be there", decoderOf[wire.Topics](), "ffffffff00", "topics", 4, wire.ErrShort},
		{"streams of permissions out of order", decoderOf[wire.Permissions](), unorderedPermissions, "stream id", 35, wire.ErrValue},
		{"user without permissions, in one byte", decoderOf[wire.UserDetails](), "0200000000401e18240a06000103626f62000000000000000000", "no permissions", 26, wire.ErrShort},
		{"nothing to update", decoderOf[wire.UpdateResource](), "0201040100000000", "options", 8, wire.ErrLength},
		{"option set and reset", decoderOf[wire.UpdateResource](), "02010401000000" + "010161" + "020100000061020100000062", "reset", 22, wire.ErrDuplicate},
		{"option reset twice", decoderOf[wire.UpdateResource](), "02010401000000" + "0201610161", "reset", 12, wire.ErrDuplicate},
		{"poll by an external group", decoderOf[wire.PollMessages](), "0302036170700104", "consumer kind", 6, wire.ErrValue},
		{"metadata longer than the body", decoderOf[wire.SendMessages](), "ff000000", "metadata length", 4, wire.ErrShort},
		{"metadata with bytes left over", decoderOf[wire.SendMessages](), "13000000" + "0104010000000104020000000100010000000000", "metadata length", 22, wire.ErrTrailing},
		{"records of a section that failed", decoderOf[wire.FetchedMessages](), "010000000100000057000000" + strings.Repeat("00", 44) + "01000000ff", "records", 61, wire.ErrTrailing},
		{"records longer than the body", decoderOf[wire.FetchedMessages](), "010000000100000000000000" + strings.Repeat("00", 44) + "02000000ff", "records", 60, wire.ErrShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.decode(mustHex(c.hex))
			require.Equal(t, &wire.FieldError{Field: c.field, Offset: c.offset, Err: c.err}, err)
			require.ErrorIs(t, err, c.err)
		})
	}
	for name, c := range map[string]struct{ tail, field string }{
		"wait too long":          {"004c0cc302000000" + "01000000" + "00001000" + "80ee360000000000", "wait"},
		"nothing to wait for":    {"0000000000000000" + "00000000" + "00001000" + "80ee360000000000", "min count"},
		"more to wait than read": {"0000000000000000" + "01010000" + "00001000" + "80ee360000000000", "min count"},
		"reply too small":        {"0000000000000000" + "01000000" + "57010000" + "80ee360000000000", "max bytes"},
		"no time-out":            {"0000000000000000" + "01000000" + "00001000" + "0000000000000000", "request timeout"},
		"time-out too long":      {"0000000000000000" + "01000000" + "00001000" + "818e8d2500000000", "request timeout"},
		"time-out before end":    {"404b4c0000000000" + "01000000" + "00001000" + "404b4c0000000000", "request timeout"},
	} {
		_, err := wire.Decode[wire.PollMessagesDeferred](waits(c.tail))
		require.ErrorIs(t, err, wire.ErrValue, name)
		require.ErrorContains(t, err, c.field+" at byte ", name)
	}
}

const (
	streamHex            = "0100000000401e18240a06000000000000100000000000000a000000000000000173"
	unorderedPermissions = "00000000000000000000" + "01" + "02000000" + "000000000000" + "00" + "01" + "02000000" + "000000000000" + "0000"
)

func TestFetchWantsEachPartitionOnceAndSoundLimits(t *testing.T) {
	t.Parallel()
	target := wire.FetchTarget{Strategy: wire.PollingStrategy{Kind: wire.FromNext}, MaxBytes: 1000}
	sound := func() wire.FetchMessages {
		return wire.FetchMessages{
			Consumer: wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.ID(1)}, TimeoutMicros: wire.MinReplyMarginMicros,
			Stream: wire.ID(1), Topic: wire.ID(1), MinCount: 1, Count: 1, MaxBytes: 1000, Targets: []wire.FetchTarget{target},
		}
	}
	fetch := sound()
	_, err := wire.Append(nil, &fetch)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(f *wire.FetchMessages)
		field  string
		err    error
	}{
		"no target":   {func(f *wire.FetchMessages) { f.Targets = nil }, "targets", wire.ErrLength},
		"too many":    {func(f *wire.FetchMessages) { f.Targets = make([]wire.FetchTarget, wire.MaxPartitions+1) }, "strategy kind", wire.ErrValue},
		"twice":       {func(f *wire.FetchMessages) { f.Targets = append(f.Targets, target) }, "target partition", wire.ErrDuplicate},
		"from last":   {func(f *wire.FetchMessages) { f.Targets[0].Strategy.Kind = wire.FromLast }, "target strategy", wire.ErrValue},
		"too small":   {func(f *wire.FetchMessages) { f.Targets[0].MaxBytes = 343 }, "target max bytes", wire.ErrValue},
		"above all":   {func(f *wire.FetchMessages) { f.Targets[0].MaxBytes = 1001 }, "target max bytes", wire.ErrValue},
		"short time":  {func(f *wire.FetchMessages) { f.TimeoutMicros-- }, "request timeout", wire.ErrValue},
		"no messages": {func(f *wire.FetchMessages) { f.MinCount = 0 }, "min count", wire.ErrValue},
	} {
		fetch := sound()
		c.change(&fetch)
		_, err := wire.Append(nil, &fetch)
		require.ErrorIs(t, err, c.err, name)
		require.ErrorContains(t, err, c.field+" at byte ", name)
	}
}

func TestEncodersRefuseWhatTheProtocolCannotHold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	tooMany := make(wire.Options, wire.MaxOptions+1)
	for i := range tooMany {
		tooMany[i] = wire.Option{Key: strings.Repeat("k", 1+i/256) + string(rune('a'+i%256)), Value: wire.BoolValue(true)}
	}
	large := make(wire.Options, 500)
	for i := range large {
		large[i] = wire.Option{Key: long[:200] + string(rune('a'+i)), Value: wire.StringValue(long[:200])}
	}
	for name, c := range map[string]struct {
		body wire.Body
		err  error
	}{
		"name too long":        {&wire.CreateStream{Name: long}, wire.ErrLength},
		"name of no bytes":     {&wire.CreateStream{}, wire.ErrLength},
		"name not UTF-8":       {&wire.CreateStream{Name: "\xff"}, wire.ErrText},
		"password too long":    {&wire.ChangePassword{User: wire.ID(1), New: long}, wire.ErrLength},
		"key too long":         {&wire.Partitioning{Kind: wire.PartitionByKey, Key: []byte(long)}, wire.ErrLength},
		"key of no bytes":      {&wire.Partitioning{Kind: wire.PartitionByKey}, wire.ErrLength},
		"partitioning of none": {&wire.Partitioning{}, wire.ErrValue},
		"consumer of no kind":  {&wire.Consumer{}, wire.ErrValue},
		"no identifier":        {&wire.GetStream{}, wire.ErrNoIdentifier},
		"an empty name":        {&wire.GetStream{Stream: wire.Named("")}, wire.ErrNoIdentifier},
		"value of no bytes":    {&wire.Options{{Key: "a"}}, wire.ErrLength},
		"value too long":       {&wire.Options{{Key: "a", Value: wire.StringValue(long)}}, wire.ErrLength},
		"option twice":         {&wire.Options{{Key: "a", Value: wire.BoolValue(true)}, {Key: "a", Value: wire.BoolValue(true)}}, wire.ErrDuplicate},
		"too many options":     {&tooMany, wire.ErrLength},
		"options too large":    {&large, wire.ErrLength},
		"too many resets":      {&wire.UpdateResource{Scope: wire.ScopeUser, User: wire.ID(1), Reset: make([]string, 256)}, wire.ErrLength},
		"wrong count":          {&wire.StreamDetails{Stream: wire.Stream{Name: "s", TopicsCount: 1}}, wire.ErrLength},
		"token too long":       {&wire.GetMetadataChanges{Token: strings.Repeat("x", math.MaxUint16+1)}, wire.ErrLength},
		"records of a failure": {&wire.FetchedMessages{Sections: []wire.FetchSection{{Status: 1, Records: []byte{1}}}}, wire.ErrTrailing},
	} {
		before := []byte("before")
		got, err := wire.Append(before, c.body)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, "before", string(got), name)
		frame, err := wire.AppendRequest(before, wire.NewRequest(wire.CmdPing), c.body)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, "before", string(frame), name)
	}
}

func TestBodiesThatEndEarlyAreRefused(t *testing.T) {
	t.Parallel()
	shorter := map[string][]int{ // what may end where, by its layout
		"get_stats": {16}, "get_stats/cache": {16}, // without the open files
	}
	for _, bodies := range []map[string]body{requestBodies(), replyBodies()} {
		for name, b := range bodies {
			whole, err := wire.Append(nil, b.Body)
			require.NoError(t, err, name)
			decode := decoderLike(t, b.Body)
			for n := range whole {
				v, err := decode(whole[:n])
				if err != nil {
					wantFieldError(t, err, n)
					continue
				}
				if len(shorter[name]) > 0 && n == len(whole)-shorter[name][0] {
					continue
				}
				require.True(t, goesOn(v), "%s ends well after %d of %d bytes", name, n, len(whole))
			}
		}
	}
}

// goesOn says whether a body ends with a list or a block that goes on to the end, so that a shorter one may be whole too.
func goesOn(v wire.Body) bool {
	switch v.(type) {
	case *wire.Clients, *wire.Users, *wire.Streams, *wire.Groups, *wire.PersonalAccessTokens, *wire.CreateUser,
		*wire.CreateStream, *wire.CreateTopic, *wire.UpdateResource, *wire.SendMessages, *wire.PolledMessages:
		return true
	}
	return false
}

// decoderLike returns the decoder of the type of v.
func decoderLike(t *testing.T, v wire.Body) decoder {
	t.Helper()
	whole, err := wire.Append(nil, v)
	require.NoError(t, err)
	for _, d := range decoders() {
		if got, err := d(whole); err == nil && reflect.TypeOf(got) == reflect.TypeOf(v) {
			return d
		}
	}
	require.Fail(t, "no decoder")
	return nil
}

// TestLengthsThatAPeerClaimsAllocateLittle does not run beside other tests, as it looks at what the whole process
// allocates.
func TestLengthsThatAPeerClaimsAllocateLittle(t *testing.T) {
	const perByte, extra = 64, 64 << 10
	huge := []byte{0xff, 0xff, 0xff, 0xff}
	for _, bodies := range []map[string]body{requestBodies(), replyBodies()} {
		for name, b := range bodies {
			whole, err := wire.Append(nil, b.Body)
			require.NoError(t, err, name)
			decode := decoderLike(t, b.Body)
			for at := 0; at+len(huge) <= min(len(whole), 400); at++ {
				wrong := bytes.Clone(whole)
				copy(wrong[at:], huge)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, _ = decode(wrong)
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(wrong)+extra), "%s at %d", name, at)
			}
		}
	}
}
