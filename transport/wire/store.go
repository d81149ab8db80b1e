package wire

// VerifyBatch checks a batch as a server has to before it stores it: that it is one batch of at least one message, whose
// parts are where they should be, and that all checksums match. Beside a [*FieldError] with a cause of its own, it
// returns one that wraps [ErrFrameChecksum] or [ErrBatchChecksum]. (Iggy binary protocol, message batches.)
func VerifyBatch(batch []byte) (BatchHeader, error) {
	h, err := DecodeBatchHeader(batch)
	if err != nil {
		return h, err
	}
	switch {
	case h.Length != uint64(len(batch)):
		return h, &FieldError{Field: "batch length", Offset: 32, Err: ErrLength}
	case h.Count == 0:
		return h, &FieldError{Field: "message count", Offset: 48, Err: ErrLength}
	}
	frames := batch[BatchHeaderSize:]
	if err := verifyFrames(frames, h.Count); err != nil {
		return h, err
	}
	sum, err := BatchChecksum(h, frames)
	if err == nil && sum != h.Checksum {
		err = &FieldError{Field: "batch checksum", Offset: 40, Err: ErrBatchChecksum}
	}
	return h, err
}

// verifyFrames wants as many messages, numbered from 0 on, that match their checksums.
func verifyFrames(frames []byte, count uint32) error {
	at := 0
	for i := range count {
		f, err := readFrame(frames[at:])
		switch {
		case err != nil:
		case f.offsetDelta() != i:
			err = &FieldError{Field: "offset delta", Offset: 24, Err: ErrValue}
		case f.reserved() != 0:
			err = &FieldError{Field: "reserved bytes of the message", Offset: 40, Err: ErrValue}
		case frameChecksum(f) != f.checksum():
			err = &FieldError{Field: "message checksum", Err: ErrFrameChecksum}
		}
		if err != nil {
			return inBatch(err, at)
		}
		at += len(f)
	}
	if at != len(frames) {
		return inBatch(&FieldError{Field: "messages of the batch", Err: ErrTrailing}, at)
	}
	return nil
}

// StampBatch makes a batch that [VerifyBatch] found good one that is stored: it writes partition, first offset and time,
// in microseconds since 1970, into its header, and the checksum that goes with them.
func StampBatch(batch []byte, partition uint32, baseOffset, baseTimestamp uint64) error {
	h, err := DecodeBatchHeader(batch)
	if err != nil {
		return err
	}
	h.PartitionID, h.BaseOffset, h.BaseTimestamp = uint64(partition), baseOffset, baseTimestamp
	if h.Checksum, err = BatchChecksum(h, batch[BatchHeaderSize:]); err != nil {
		return err
	}
	h.put(batch)
	return nil
}

// AppendSlice appends to dst what a stored batch has from an offset on, but at most so many messages, as a batch of its
// own, and returns the longer slice and the number of messages. If there are none it appends nothing. The new batch keeps
// the first offset and the checksum of the whole.
func AppendSlice(dst, batch []byte, from uint64, most uint32) (longer []byte, count uint32, err error) {
	h, err := DecodeBatchHeader(batch)
	if err != nil {
		return dst, 0, err
	}
	begin, end := 0, 0
	frames := batch[BatchHeaderSize:]
	for end < len(frames) && count < most {
		f, err := readFrame(frames[end:])
		if err != nil {
			return dst, 0, inBatch(err, end)
		}
		end += len(f)
		if h.BaseOffset+uint64(f.offsetDelta()) < from {
			begin = end
		} else {
			count++
		}
	}
	if count == 0 {
		return dst, 0, nil
	}
	h.Count, h.Length = count, uint64(BatchHeaderSize+end-begin)
	return append(AppendBatchHeader(dst, h), frames[begin:end]...), count, nil
}
