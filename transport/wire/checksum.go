package wire

import (
	"github.com/zeebo/xxh3"
)

// frameChecksum is the checksum of a message: XXH3-64 of all of its frame but the checksum. (Iggy binary protocol,
// checksums.)
func frameChecksum(f frame) uint64 { return xxh3.Hash(f[8:]) }

// BatchChecksum returns the checksum of a batch: XXH3-64 of the fields of its header and of the checksums of its messages,
// which stand in frames. It wants that frames are whole messages, but not that they match their checksums.
func BatchChecksum(h BatchHeader, frames []byte) (uint64, error) {
	var encoded [BatchHeaderSize]byte
	h.put(encoded[:])
	var hash xxh3.Hasher
	write := func(b []byte) { _, _ = hash.Write(b) } // it never returns an error
	write(encoded[0:40])
	write(encoded[48:52])
	if h.Idempotent {
		write(encoded[52:53])
		write(encoded[56:66])
		write(encoded[68:72])
	}
	for at := 0; at < len(frames); {
		f, err := readFrame(frames[at:])
		if err != nil {
			return 0, inBatch(err, at)
		}
		write(f[:8])
		at += len(f)
	}
	return hash.Sum64(), nil
}

// RequestChecksum is a checksum for a request to begin a session: XXH3-64 of its body. It is the same when the request is
// sent again, and servers of older protocols, which want just this, answer it with the versions that they speak.
func RequestChecksum(body []byte) Uint128 { return Uint128{Lo: xxh3.Hash(body)} }

// inBatch moves the place of an error behind the header of a batch.
func inBatch(err error, at int) error { return moved(err, BatchHeaderSize+at) }

// moved returns the error of a field with its place counted from earlier by so many bytes.
func moved(err error, by int) error {
	if f, ok := err.(*FieldError); ok {
		return &FieldError{Field: f.Field, Offset: f.Offset + by, Err: f.Err}
	}
	return err
}
