package wire

import (
	"encoding/binary"
	"fmt"
)

// Uint128 is a number of 128 bits: the id of a client or of a message. On the wire its 16 bytes are little endian.
type Uint128 struct {
	// Hi are the upper 64 bits.
	Hi uint64
	// Lo are the lower 64 bits.
	Lo uint64
}

// IsZero says whether the number is 0, which stands for none.
func (u Uint128) IsZero() bool { return u == Uint128{} }

// String returns 32 hexadecimal digits.
func (u Uint128) String() string { return fmt.Sprintf("%016x%016x", u.Hi, u.Lo) }

// UUIDv4 makes a random message id: a UUID of version 4 from 16 random bytes, whose bytes in their order are the bytes
// of the number on the wire.
func UUIDv4(random [16]byte) Uint128 {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	return uint128(random[:])
}

// uint128 reads 16 bytes.
func uint128(b []byte) Uint128 {
	return Uint128{Lo: binary.LittleEndian.Uint64(b), Hi: binary.LittleEndian.Uint64(b[8:])}
}

// append appends 16 bytes.
func (u Uint128) append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, u.Lo), u.Hi)
}
