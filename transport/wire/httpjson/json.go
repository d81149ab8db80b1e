// Package httpjson has the bodies that the HTTP interface of Apache Iggy 0.12 takes and returns, as structs for
// encoding/json. Fields stand in the order in which the reference writes them.
package httpjson

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/runnel-go/runnel/transport/wire"
)

var (
	errID    = errors.New("no number of 128 bits")
	errSize  = errors.New("no size in bytes")
	errKind  = errors.New("kind of value not known")
	errBlock = errors.New("user headers neither list nor text")
)

// ID is a number of 128 bits: a JSON integer, of more digits than most programs take.
type ID wire.Uint128

// MarshalJSON writes the number in decimal.
func (id ID) MarshalJSON() ([]byte, error) {
	n := new(big.Int).SetUint64(id.Hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(id.Lo))
	return []byte(n.String()), nil
}

// UnmarshalJSON reads a decimal number, which may be a text, or a text of 32 hexadecimal digits, with or without the
// hyphens of a UUID, whose bytes in their order are the little endian bytes of the number.
func (id *ID) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if hex := strings.ReplaceAll(text, "-", ""); len(hex) == 32 && len(b) > len(hex) {
		return id.unmarshalHex(hex)
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) > 39 || n.Sign() < 0 || n.BitLen() > 128 {
		return fmt.Errorf("message id: %w", errID)
	}
	id.Lo = new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	id.Hi = n.Rsh(n, 64).Uint64()
	return nil
}

func (id *ID) unmarshalHex(text string) error {
	for i := range 16 {
		b, err := strconv.ParseUint(text[2*i:2*i+2], 16, 8)
		if err != nil {
			return fmt.Errorf("message id: %w", errID)
		}
		half, shift := &id.Lo, 8*(i%8)
		if i >= 8 {
			half = &id.Hi
		}
		*half = *half&^(0xff<<shift) | b<<shift
	}
	return nil
}

// Size is a size in bytes. Servers write it with a unit, as in "4 KiB".
type Size uint64

// units are the units of sizes. One that is longer stands before one that it ends with.
var units = []struct {
	name  string
	bytes uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}, {"B", 1},
}

// MarshalJSON writes the size in the largest binary unit of which it is a whole number.
func (s Size) MarshalJSON() ([]byte, error) {
	n, unit := uint64(s), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, larger
	}
	return json.Marshal(fmt.Sprintf("%d %s", n, unit))
}

// UnmarshalJSON reads a number of bytes, or a text with a unit.
func (s *Size) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(strings.Trim(string(b), `"`))
	factor := uint64(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, factor = strings.TrimSpace(number), u.bytes
			break
		}
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		over, size := bits.Mul64(n, factor)
		if over > 0 {
			return fmt.Errorf("size: %w", errSize)
		}
		*s = Size(size)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	size := f * float64(factor)
	if err != nil || !(size >= 0 && size < math.MaxUint64) {
		return fmt.Errorf("size: %w", errSize)
	}
	*s = Size(size)
	return nil
}

// Base64 are bytes as a text; no bytes are an empty text.
type Base64 []byte

// MarshalText writes the bytes in base64.
func (b Base64) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText reads base64.
func (b *Base64) UnmarshalText(text []byte) error {
	var err error
	*b, err = base64.StdEncoding.AppendDecode(make([]byte, 0, len(text)), text)
	if err != nil {
		return fmt.Errorf("base64: %w", err)
	}
	return nil
}

// Kind is a kind of value, by its name.
type Kind wire.Kind

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) {
	name := wire.Kind(k).String()
	if _, ok := wire.KindNamed(name); !ok {
		return nil, errKind
	}
	return []byte(name), nil
}

// UnmarshalText reads the name of a kind.
func (k *Kind) UnmarshalText(text []byte) error {
	kind, ok := wire.KindNamed(string(text))
	if !ok {
		return errKind
	}
	*k = Kind(kind)
	return nil
}

// UserHeaders are the user headers of a message, as the block that [wire.Message] has.
type UserHeaders []byte

// header is one of them in JSON.
type header struct {
	Key   value `json:"key"`
	Value value `json:"value"`
}

type value struct {
	Kind  Kind   `json:"kind"`
	Value Base64 `json:"value"`
}

// headerOverhead is what a block has of a header besides key and value: their kinds and lengths.
const headerOverhead = 2 * (1 + 4)

// MarshalJSON writes a list of headers, or the block as a text if it cannot be read: if it is encrypted.
func (h UserHeaders) MarshalJSON() ([]byte, error) {
	headers, err := wire.DecodeUserHeaders(nil, h)
	if err != nil {
		return json.Marshal(Base64(h))
	}
	list := make([]header, 0, len(headers))
	for _, u := range headers {
		list = append(list, header{
			Key:   value{Kind(u.Key.Kind), u.Key.Data},
			Value: value{Kind(u.Value.Kind), u.Value.Data},
		})
	}
	text, err := json.Marshal(list)
	if errors.Is(err, errKind) {
		return json.Marshal(Base64(h))
	}
	return text, err
}

// UnmarshalJSON reads a list of headers, or a block as a text.
func (h *UserHeaders) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, (*Base64)(h))
	case len(b) == 0 || b[0] != '[' && string(b) != "null":
		return errBlock
	}
	var headers []wire.UserHeader
	size := 0
	err := readList(b, func(one header) bool {
		headers = append(headers, wire.UserHeader{
			Key:   wire.Value{Kind: wire.Kind(one.Key.Kind), Data: one.Key.Value},
			Value: wire.Value{Kind: wire.Kind(one.Value.Kind), Data: one.Value.Value},
		})
		size += headerOverhead + len(one.Key.Value) + len(one.Value.Value)
		return size <= wire.MaxUserHeadersSize
	})
	if err != nil {
		return err
	}
	block, err := wire.AppendUserHeaders(nil, headers)
	if err != nil {
		return fmt.Errorf("user headers: %w", err)
	}
	*h = block
	return nil
}
