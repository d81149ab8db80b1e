package wire

import (
	"encoding/binary"
	"math/bits"
)

// PartitionOfKey returns the partition that messages with a key go to, of a topic with so many partitions: the XXH32 of the
// key, with seed 0, modulo their number. It is 0 for a topic without partitions. (Iggy binary protocol, partitioning.)
func PartitionOfKey(key []byte, partitions uint32) uint32 {
	if partitions == 0 {
		return 0
	}
	return xxh32(key) % partitions
}

// Primes of XXH32, as its specification has them.
const (
	prime1 uint32 = 0x9E3779B1
	prime2 uint32 = 0x85EBCA77
	prime3 uint32 = 0xC2B2AE3D
	prime4 uint32 = 0x27D4EB2F
	prime5 uint32 = 0x165667B1
)

// xxh32 is the XXH32 of b with seed 0. (xxHash fast digest algorithm, XXH32.)
func xxh32(b []byte) uint32 {
	sum := prime5
	n := uint32(len(b))
	if len(b) >= 16 {
		sum, b = stripes(b)
	}
	sum += n
	for ; len(b) >= 4; b = b[4:] {
		sum += binary.LittleEndian.Uint32(b) * prime3
		sum = bits.RotateLeft32(sum, 17) * prime4
	}
	for _, v := range b {
		sum += uint32(v) * prime5
		sum = bits.RotateLeft32(sum, 11) * prime1
	}
	sum ^= sum >> 15
	sum *= prime2
	sum ^= sum >> 13
	sum *= prime3
	return sum ^ sum>>16
}

// stripes takes what of b is a multiple of 16 bytes, and returns the rest.
func stripes(b []byte) (sum uint32, rest []byte) {
	first, last := prime1, prime1 // as variables, since constants may not overflow
	lanes := [4]uint32{first + prime2, prime2, 0, -last}
	for ; len(b) >= 16; b = b[16:] {
		for i := range lanes {
			lane := lanes[i] + binary.LittleEndian.Uint32(b[4*i:])*prime2
			lanes[i] = bits.RotateLeft32(lane, 13) * prime1
		}
	}
	for i, turn := range [4]int{1, 7, 12, 18} {
		sum += bits.RotateLeft32(lanes[i], turn)
	}
	return sum, b
}
