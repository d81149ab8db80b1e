package checkpoint

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goldenFile is what the first release wrote for golden, field by field as format.go lays it out. It must be readable
// for ever. Its sums come from a bitwise CRC-32C of the polynomial, not from this package.
var goldenFile = strings.Join([]string{
	"72756e6e656c6370", "01", "0000002f", // magic, version, size of the header
	"0000000000000007", "0000000000000006", "0000000000000005", "deadbeef", // number, parent, base, sum of the parent
	"0000000069c8879f", "075bcd15", hex.EncodeToString([]byte("flights")), // taken, pipeline
	"b225f03c",       // sum
	"02", "01", "61", // shape
	"02", "01", "73", "02", "01", "70", "02", "09", // a source, its one partition, and a token of one byte
	"02", "01", "6b", "01", // a sink without a token
	"02", "05", hex.EncodeToString([]byte("count")), "00", "01", "02", "01", "64", // changes: nothing set, one deleted
	"7a8f784c", // sum
}, "")

func golden() (header, *Checkpoint) {
	h := header{link: link{number: 7, parent: 6, base: 5}, parentSum: 0xdeadbeef, taken: taken, pipeline: "flights"}
	return h, &Checkpoint{
		Pipeline: "flights",
		Number:   7,
		Taken:    taken,
		Shape:    []string{"a"},
		Sources:  map[string]Position{"s": {"p": {9}}},
		Sinks:    map[string][]byte{"k": {}},
		States:   map[string]State{"count": {Put: map[string][]byte{}, Deleted: []string{"d"}}},
	}
}

func TestFirstFormatIsWrittenAndReadAsEver(t *testing.T) {
	t.Parallel()
	h, c := golden()
	require.Equal(t, goldenFile, hex.EncodeToString(encode(t, h, c)))
	file, err := hex.DecodeString(goldenFile)
	require.NoError(t, err)
	s, err := decodeFile(file)
	require.NoError(t, err)
	require.Equal(t, h, s.header)
	require.Equal(t, *c, s.Checkpoint)
	require.Equal(t, binary.BigEndian.Uint32(file[len(file)-sumSize:]), s.sum)
}

func TestEqualCheckpointsAreEqualFiles(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 100 {
		pairs = append(pairs, strings.Repeat("k", i), "v")
	}
	h := header{link: link{number: 1, base: 1}, taken: taken, pipeline: "flights"}
	first := encode(t, h, flights(1, full("count", pairs...)))
	for range 5 {
		require.Equal(t, first, encode(t, h, flights(1, full("count", pairs...))))
	}
}

func TestAnyCutOrAddedByteIsDamage(t *testing.T) {
	t.Parallel()
	h, c := golden()
	file := encode(t, h, c)
	for n := range file {
		_, err := decodeFile(file[:n])
		require.Error(t, err, "cut to %d", n)
		for bit := range 8 {
			changed := append([]byte(nil), file...)
			changed[n] ^= 1 << bit
			_, err = decodeFile(changed)
			require.Error(t, err, "bit %d of byte %d", bit, n)
		}
	}
	_, err := decodeFile(append(file, 0))
	require.Error(t, err)
}

func TestHeaderThatContradictsItselfIsDamage(t *testing.T) {
	t.Parallel()
	tests := map[string]link{
		"no number":               {},
		"base only":               {base: 1},
		"starts with a parent":    {number: 3, parent: 2, base: 3},
		"parent is itself":        {number: 3, parent: 3, base: 1},
		"parent is later":         {number: 3, parent: 4, base: 1},
		"base is later":           {number: 3, parent: 1, base: 2},
		"base is above":           {number: 3, base: 4},
		"parent without a base":   {number: 3, parent: 2},
		"neither parent nor base": {number: 3},
	}
	for name, at := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := header{link: at, taken: taken}.append(nil)
			require.NoError(t, err)
			_, _, err = readHeader(strings.NewReader(string(raw)))
			require.ErrorContains(t, err, "with parent")
		})
	}
	raw, err := header{link: link{number: 1, base: 1}, parentSum: 1}.append(nil)
	require.NoError(t, err)
	_, err = decodeFile(raw)
	require.ErrorContains(t, err, "with parent", "a sum of no parent")
}

func TestTimeOutOfRangeIsDamage(t *testing.T) {
	t.Parallel()
	h, c := golden()
	file := encode(t, h, c)
	binary.BigEndian.PutUint32(file[preambleSize+fixedHeader-4:], uint32(time.Second))
	_, err := decodeFile(resum(file))
	require.ErrorContains(t, err, "1000000000 nanoseconds")
}

func TestMalformedBodyIsDamageHoweverGoodItsSum(t *testing.T) {
	t.Parallel()
	// A body is shape, sources, sinks, states; 0 is nil.
	huge := string(binary.AppendUvarint(nil, math.MaxUint64))
	tests := map[string]struct{ body, text string }{
		"nothing":                    {"", "size cannot be read"},
		"no states":                  {"\x00\x00\x00", "size cannot be read"},
		"one byte too many":          {"\x00\x00\x00\x00\x00", "1 bytes behind the end"},
		"endless size":               {strings.Repeat("\xff", 20), "size cannot be read"},
		"size that does not end":     {"\xff", "size cannot be read"},
		"huge list":                  {huge, "bytes left"},
		"huge text":                  {"\x02" + huge, "bytes left"},
		"huge map":                   {"\x00" + huge, "bytes left"},
		"map larger than the rest":   {"\x00\x04\x01a\x00", "bytes left"},
		"huge token":                 {"\x00\x00\x02\x00" + huge, "bytes left"},
		"text behind the end":        {"\x02\x05ab", "bytes left"},
		"same key twice":             {"\x00\x00\x03\x01a\x00\x01a\x00\x00", "do not ascend"},
		"keys in another order":      {"\x00\x00\x03\x01b\x00\x01a\x00\x00", "do not ascend"},
		"state without a flag":       {"\x00\x00\x00\x02\x01a", "bytes left"},
		"state of a flag alone":      {"\x00\x00\x00\x02\x01a\x00", "size cannot be read"},
		"state cut behind its key":   {"\x00\x00\x00\x02\x02ab", "bytes left"},
		"flag of two":                {"\x00\x00\x00\x02\x01a\x02\x00\x00", "flag 2"},
		"full state with a deletion": {"\x00\x00\x00\x02\x01a\x01\x00\x02\x01k", "deletes keys"},
		"changes that start a chain": {"\x00\x00\x00\x02\x01a\x00\x00\x00", "do not fit base 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decodeFile(withBody(t, test.body))
			require.ErrorIs(t, err, errBody)
			require.ErrorContains(t, err, test.text)
		})
	}
}

// withBody returns a file of checkpoint 1 with that body and good sums.
func withBody(t testing.TB, body string) []byte {
	t.Helper()
	raw, err := header{link: link{number: 1, base: 1}, taken: taken, pipeline: "flights"}.append(nil)
	require.NoError(t, err)
	return resum(append(raw, body+"\x00\x00\x00\x00"...))
}

func TestTimeOfACheckpointKeepsItsInstant(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{{}, time.Unix(0, 0), taken.In(time.FixedZone("there", 3600)), time.Date(-5, 1, 1, 0, 0, 0, 1, time.UTC)} {
		s, err := decodeFile(encode(t, header{link: link{number: 1, base: 1}, taken: at}, &Checkpoint{}))
		require.NoError(t, err)
		require.True(t, at.Equal(s.Taken))
		require.Equal(t, time.UTC, s.Taken.Location())
		require.Equal(t, at.IsZero(), s.Taken.IsZero())
	}
}

func FuzzDecoders(f *testing.F) {
	h, c := golden()
	f.Add(encode(f, h, c))
	for _, c := range twoChains() {
		f.Add(encode(f, header{link: link{number: c.Number, base: c.Number}, taken: taken}, c))
	}
	f.Add(withBody(f, "\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x03\x01a\x00\x01b\x00\x00"))
	f.Add(OffsetToken(42, []byte("guard")))
	f.Fuzz(func(t *testing.T, data []byte) {
		requireSameAgain(t, data)
		requireSameAgain(t, withBody(t, string(data)))
		if len(data) >= preambleSize+fixedHeader+2*sumSize && binary.BigEndian.Uint32(data[len(magic)+1:]) < uint32(len(data)-preambleSize-2*sumSize) {
			requireSameAgain(t, resum(append([]byte(nil), data...)))
		}
		if next, guard, err := ParseOffset(data); err == nil {
			require.Equal(t, data, OffsetToken(next, guard))
		}
	})
}

// requireSameAgain encodes what data holds and reads the same from that, if data can be read at all.
func requireSameAgain(t *testing.T, data []byte) {
	t.Helper()
	first, err := decodeFile(data)
	if err != nil {
		return
	}
	second, err := decodeFile(encode(t, first.header, &first.Checkpoint))
	require.NoError(t, err)
	require.Equal(t, first.header, second.header)
	require.Equal(t, first.Checkpoint, second.Checkpoint)
}
