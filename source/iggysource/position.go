package iggysource

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/transport/wire"
)

// A partition of the source is named by its number. Its token is an offset token, which says what is read next, whose guard
// says under which life of the partition, and which ownership, that is:
//
//	version (1 byte) | incarnation | owner generation
//
// both as unsigned varints.
const guardVersion = 1

var errPosition = errors.New("position is damaged or of a later version")

// partitionName is the name of a partition in positions and origins.
func partitionName(id uint32) string { return strconv.FormatUint(uint64(id), 10) }

// partitionNamed returns the partition of a name.
func partitionNamed(name string) (uint32, error) {
	id, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("partition %q: %w", name, errPosition)
	}
	return uint32(id), nil
}

// encodeToken returns the token of a partition.
func encodeToken(next uint64, under wire.PartitionContext) []byte {
	guard := make([]byte, 0, 1+2*binary.MaxVarintLen64)
	guard = append(guard, guardVersion)
	guard = binary.AppendUvarint(guard, under.Incarnation)
	guard = binary.AppendUvarint(guard, under.OwnerGeneration)
	return checkpoint.OffsetToken(int64(next), guard)
}

// decodeToken takes a token apart.
func decodeToken(token []byte) (next uint64, under wire.PartitionContext, err error) {
	offset, guard, err := checkpoint.ParseOffset(token)
	if err != nil {
		return 0, under, err
	}
	if offset < 0 || len(guard) < 1 || guard[0] != guardVersion {
		return 0, under, errPosition
	}
	rest := guard[1:]
	for _, to := range []*uint64{&under.Incarnation, &under.OwnerGeneration} {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, under, errPosition
		}
		*to, rest = v, rest[n:]
	}
	if len(rest) > 0 {
		return 0, under, errPosition
	}
	return uint64(offset), under, nil
}

// compareTokens says whether a is before b (negative), behind it (positive), or neither: offsets of different lives of a
// partition say nothing about each other, and a new owner may begin before the old one ended.
func compareTokens(a, b []byte) int {
	left, underLeft, errLeft := decodeToken(a)
	right, underRight, errRight := decodeToken(b)
	if errLeft != nil || errRight != nil || !sameHold(underLeft, underRight) {
		return 0
	}
	return cmp.Compare(left, right)
}

// sameHold says whether two contexts are of one life and one ownership of a partition.
func sameHold(a, b wire.PartitionContext) bool {
	return a.Incarnation == b.Incarnation && a.OwnerGeneration == b.OwnerGeneration
}
