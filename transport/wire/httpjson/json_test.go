package httpjson_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

func TestSizesAreNumbersOrTextWithAUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]httpjson.Size{
		`0`: 0, `4096`: 4096, `"0 B"`: 0, `"1000 B"`: 1000, `"4 KiB"`: 4096, `"1.5 KiB"`: 1536, `"2 MiB"`: 2 << 20,
		`"1 GiB"`: 1 << 30, `"3 TiB"`: 3 << 40, `"1 PiB"`: 1 << 50, `"1 kB"`: 1000, `"2.5 MB"`: 2_500_000, `"77"`: 77,
		`18446744073709551615`: math.MaxUint64, `9007199254740993`: 9007199254740993,
	} {
		var got httpjson.Size
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{`""`, `"KiB"`, `"-1 B"`, `-1`, `"x B"`, `"NaN B"`, `"1e300 B"`, `"99999999 PiB"`, `{}`, `"4 KiX"`} {
		got := httpjson.Size(7)
		require.Error(t, json.Unmarshal([]byte(text), &got), text)
	}
	for want, size := range map[string]httpjson.Size{
		`"0 B"`: 0, `"1 B"`: 1, `"1023 B"`: 1023, `"1 KiB"`: 1024, `"1025 B"`: 1025, `"1536 KiB"`: 1536 << 10, `"1 GiB"`: 1 << 30,
	} {
		text, err := json.Marshal(size)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

func TestIDsAreNumbersOfAnyLengthOrUUIDs(t *testing.T) {
	t.Parallel()
	largest := httpjson.ID{Hi: math.MaxUint64, Lo: math.MaxUint64}
	uuid := httpjson.ID(wire.UUIDv4([16]byte{1, 2, 3}))
	for text, want := range map[string]httpjson.ID{
		`0`: {}, `1`: {Lo: 1}, `"18446744073709551616"`: {Hi: 1}, `340282366920938463463374607431768211455`: largest,
		`"01020300-0000-4000-8000-000000000000"`: uuid, `"01020300000040008000000000000000"`: uuid,
	} {
		var got httpjson.ID
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		`-1`, `""`, `"x"`, `1.5`, `340282366920938463463374607431768211456`, `"zz020300000040008000000000000000"`, `[]`, `true`,
	} {
		var got httpjson.ID
		require.Error(t, json.Unmarshal([]byte(text), &got), text)
	}
	text, err := json.Marshal(largest)
	require.NoError(t, err)
	require.Equal(t, "340282366920938463463374607431768211455", string(text))
}

func TestUserHeadersThatCannotBeReadAreOneText(t *testing.T) {
	t.Parallel()
	later, err := wire.AppendUserHeaders(nil, []wire.UserHeader{
		{Key: wire.StringValue("k"), Value: wire.Value{Kind: 200, Data: []byte{1}}},
	})
	require.NoError(t, err)
	for name, block := range map[string]httpjson.UserHeaders{"encrypted": {0xff, 1, 2}, "of a later kind": later} {
		text, err := json.Marshal(block)
		require.NoError(t, err, name)
		require.Equal(t, byte('"'), text[0], name)
		var got httpjson.UserHeaders
		require.NoError(t, json.Unmarshal(text, &got), name)
		require.Equal(t, block, got, name)
	}
}

func TestUserHeadersAreReadInAnyOrder(t *testing.T) {
	t.Parallel()
	var got httpjson.UserHeaders
	require.NoError(t, json.Unmarshal([]byte(`[
		{"key": {"kind": "string", "value": "Yg=="}, "value": {"kind": "bool", "value": "AQ=="}},
		{"key": {"kind": "string", "value": "YQ=="}, "value": {"kind": "uint16", "value": "AQI="}}
	]`), &got))
	want, err := wire.AppendUserHeaders(nil, []wire.UserHeader{
		{Key: wire.StringValue("a"), Value: wire.Uint16Value(0x0201)},
		{Key: wire.StringValue("b"), Value: wire.BoolValue(true)},
	})
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))

	for _, text := range []string{
		`{}`, `1`, `[1]`, `"?"`, `[{"key": {"kind": "none", "value": "YQ=="}}]`, `[{"key": {"kind": "string", "value": ""}}]`,
		`[{"key": {"kind": "string", "value": "?"}}]`,
	} {
		require.Error(t, json.Unmarshal([]byte(text), &got), text)
	}
	require.NoError(t, json.Unmarshal([]byte(`[]`), &got))
	require.Empty(t, got)
}

func TestListsOfDetailsAreThereEvenIfEmpty(t *testing.T) {
	t.Parallel()
	list, err := json.Marshal(httpjson.Group{Name: "g"})
	require.NoError(t, err)
	require.NotContains(t, string(list), `"members"`)
	details, err := json.Marshal(httpjson.Group{Name: "g", Members: []httpjson.Member{}})
	require.NoError(t, err)
	require.Contains(t, string(details), `"members":[]`)
	member, err := json.Marshal(httpjson.Member{ID: 1})
	require.NoError(t, err)
	require.Contains(t, string(member), `"partitions":[]`)
}

// FuzzJSON wants that no text makes reading panic, and that what was read is the same when it is written and read again.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`"4 KiB"`, `"1.5 MB"`, `340282366920938463463374607431768211455`, `"01020300-0000-4000-8000-000000000000"`, `"uint128"`,
		`[{"key": {"kind": "string", "value": "YQ=="}, "value": {"kind": "uint16", "value": "AQI="}}]`, `"/wEC"`,
		`{"messages": [{"id": 1, "payload": "aGVsbG8=", "user_headers": []}], "partitioning": {"kind": "balanced", "value": ""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		stable[httpjson.Size](t, text)
		stable[httpjson.ID](t, text)
		stable[httpjson.Kind](t, text)
		stable[httpjson.UserHeaders](t, text)
		stable[httpjson.SendMessages](t, text)
		stable[httpjson.PolledMessages](t, text)
		stable[httpjson.Topic](t, text)
	})
}

func stable[T any](t *testing.T, text []byte) {
	t.Helper()
	var first, second T
	if json.Unmarshal(text, &first) != nil {
		return
	}
	written, err := json.Marshal(first)
	if err != nil {
		return // a kind that was left out
	}
	require.NoError(t, json.Unmarshal(written, &second))
	again, err := json.Marshal(second)
	require.NoError(t, err)
	require.Equal(t, string(written), string(again))
}

func TestWhatMayBeDoneWithAnOptionIsTold(t *testing.T) {
	t.Parallel()
	option := wire.OptionDescription{
		Key: "k", Kind: wire.KindUint32, Flags: wire.FlagUpdatable | wire.FlagResettable, Default: []byte{7, 0, 0, 0}, Text: "t",
	}
	text, err := json.Marshal(httpjson.OptionDescriptionOf(option))
	require.NoError(t, err)
	// The names are those that the Rust SDK reads.
	require.JSONEq(t, `{"key":"k","kind":"uint32","updatable":true,"resettable":true,"secret":false,"read_only":false,
		"critical":false,"default_value":[7,0,0,0],"description":"t"}`, string(text))
	for flags := range wire.OptionFlags(1 << 5) {
		option.Flags = flags
		d := httpjson.OptionDescriptionOf(option)
		got, err := d.Wire()
		require.NoError(t, err)
		require.Equal(t, option, got)
	}
}

func TestPartsOfASnapshotHaveTheNamesOfTheRustSDK(t *testing.T) {
	t.Parallel()
	want := wire.GetSnapshot{Compression: 2, Types: []uint8{5, 100}}
	text, err := json.Marshal(httpjson.SnapshotOf(want))
	require.NoError(t, err)
	require.JSONEq(t, `{"compression":"Deflated","snapshot_types":["ServerLogs","All"]}`, string(text))
	for _, text := range []string{string(text), `{"compression":"deflated","snapshot_types":["server_logs","all"]}`} {
		var s httpjson.Snapshot
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		got, err := s.Wire()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err = (&httpjson.Snapshot{Compression: "Deflated", Types: []string{"other"}}).Wire()
	require.Error(t, err)
}
