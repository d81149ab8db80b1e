package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
)

// A journal begins with magic, version, and how often it was opened before, and has a record for each commit:
//
//	[length u32][CRC32C of the payload u32][CRC32C of these 8 bytes u32] payload
//
// numbers little endian. A payload has changes: [key length uvarint] key [value length + 1 uvarint, 0 for none] value.
const (
	journalMagic = "runnelj\x01" // the last byte is the version
	journalHead  = len(journalMagic) + 12
	recordHead   = 12
)

var (
	errTorn     = errors.New("the end is missing")
	errChecksum = errors.New("the checksum does not match")
	errFormat   = errors.New("malformed")
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// appendHead appends what a journal begins with.
func appendHead(dst []byte, starts uint64) []byte {
	begin := len(dst)
	dst = binary.LittleEndian.AppendUint64(append(dst, journalMagic...), starts)
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[begin:]))
}

// readHead reads how often a journal was opened.
func readHead(b []byte) (starts uint64, err error) {
	switch {
	case len(b) < journalHead || !bytes.HasPrefix(b, []byte(journalMagic)):
		return 0, errFormat
	case checksum(b[:journalHead-4]) != binary.LittleEndian.Uint32(b[journalHead-4:]):
		return 0, errChecksum
	}
	return binary.LittleEndian.Uint64(b[len(journalMagic):]), nil
}

// appendRecord appends a record of changes.
func appendRecord(dst []byte, changes []broker.Change) []byte {
	begin := len(dst)
	dst = append(dst, make([]byte, recordHead)...)
	for _, c := range changes {
		dst = append(binary.AppendUvarint(dst, uint64(len(c.Key))), c.Key...)
		if c.Value == nil {
			dst = append(dst, 0)
			continue
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(c.Value))+1), c.Value...)
	}
	head, payload := dst[begin:], dst[begin+recordHead:]
	binary.LittleEndian.PutUint32(head, uint32(len(payload)))
	binary.LittleEndian.PutUint32(head[4:], checksum(payload))
	binary.LittleEndian.PutUint32(head[8:], checksum(head[:8]))
	return dst
}

// nextRecord returns the payload of the record that b begins with, and its size. The error is errTorn if b may be the
// beginning of a record, or zeros, and nothing follows.
func nextRecord(b []byte) (payload []byte, size int, err error) {
	zeros := len(bytes.TrimLeft(b, "\x00")) == 0
	switch {
	case len(b) < recordHead, zeros:
		return nil, 0, errTorn
	case checksum(b[:8]) != binary.LittleEndian.Uint32(b[8:]):
		return nil, 0, errChecksum
	}
	length := uint64(binary.LittleEndian.Uint32(b))
	if length > uint64(len(b)-recordHead) {
		return nil, 0, errTorn
	}
	payload, rest := b[recordHead:recordHead+length], b[recordHead+length:]
	if checksum(payload) == binary.LittleEndian.Uint32(b[4:]) {
		return payload, recordHead + int(length), nil
	}
	if len(bytes.TrimLeft(rest, "\x00")) == 0 {
		return nil, 0, errTorn
	}
	return nil, 0, errChecksum
}

// apply carries out the changes of a payload.
func apply(entries map[string][]byte, payload []byte) error {
	for len(payload) > 0 {
		key, rest, ok := piece(payload, 0)
		if !ok {
			return errFormat
		}
		n, _ := binary.Uvarint(rest)
		value, rest, ok := piece(rest, 1)
		switch {
		case !ok:
			return errFormat
		case n == 0:
			delete(entries, string(key))
		default:
			entries[string(key)] = value
		}
		payload = rest
	}
	return nil
}

// piece reads a length that is more by some, and as many bytes.
func piece(b []byte, more uint64) (data, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return nil, nil, false
	}
	n -= min(n, more)
	if b = b[size:]; n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
