package wire

// Records walks over the messages of batches that stand one behind the other, as replies have them:
//
//	r := NewRecords(reply.Records)
//	for r.Next() {
//		use(r.Message())
//	}
//	return r.Err()
//
// It allocates nothing. It looks at no checksum: connections have their own, and [Records.Verify] is there
// for who wants more. (Iggy binary protocol, batches in replies.)
type Records struct {
	rest    []byte // batches that were not begun
	frames  []byte // messages of the present batch that were not read
	left    uint32 // how many these are
	offset  int    // of frames in what there was to read
	batch   BatchHeader
	frame   frame // the present message
	message Message
	err     error
}

// NewRecords returns a walk over b. The messages are views of it.
func NewRecords(b []byte) Records { return Records{rest: b} }

// Next goes to the next message. It returns false at the end, and after an error.
func (r *Records) Next() bool {
	for r.left == 0 {
		if len(r.frames) > 0 {
			r.fail(&FieldError{Field: "messages of the batch", Err: ErrTrailing}, r.offset)
		}
		if r.err != nil || len(r.rest) == 0 {
			return false
		}
		r.open()
	}
	f, err := readFrame(r.frames)
	if err != nil {
		r.fail(err, r.offset)
		return false
	}
	r.frame = f
	r.message.read(f, &r.batch)
	r.frames = r.frames[len(f):]
	r.offset += len(f)
	r.left--
	return true
}

// open begins the next batch.
func (r *Records) open() {
	h, err := DecodeBatchHeader(r.rest)
	if err == nil && h.Length > uint64(len(r.rest)) {
		err = &FieldError{Field: "messages of the batch", Offset: BatchHeaderSize, Err: ErrShort}
	}
	if err != nil {
		r.fail(err, r.offset)
		return
	}
	r.batch, r.left = h, h.Count
	r.frames, r.rest = r.rest[BatchHeaderSize:h.Length], r.rest[h.Length:]
	r.offset += BatchHeaderSize
}

// fail ends the walk.
func (r *Records) fail(err error, at int) {
	if r.err == nil {
		r.err = moved(err, at)
	}
	r.rest, r.frames, r.left = nil, nil, 0
}

// Message returns the present message.
func (r *Records) Message() Message { return r.message }

// Batch returns the header of the batch that the present message is of.
func (r *Records) Batch() BatchHeader { return r.batch }

// Verify compares the present message with its checksum. It returns an error that wraps [ErrFrameChecksum] if they do not
// match.
func (r *Records) Verify() error {
	if frameChecksum(r.frame) != r.message.Checksum {
		return &FieldError{Field: "message checksum", Offset: r.offset - len(r.frame), Err: ErrFrameChecksum}
	}
	return nil
}

// Err returns why the walk ended before the end: a [*FieldError], or nil.
func (r *Records) Err() error { return r.err }

// LastOffset returns the offset of the last message of batches that stand one behind the other; 0 if there is none. Of all
// batches but the last one it looks at the header only.
func LastOffset(records []byte) (last uint64) {
	for len(records) > 0 {
		h, err := DecodeBatchHeader(records)
		if err != nil || h.Length > uint64(len(records)) {
			break
		}
		batch := records[:h.Length]
		records = records[h.Length:]
		if len(records) > 0 {
			continue
		}
		for r := NewRecords(batch); r.Next(); {
			last = r.Message().Offset
		}
	}
	return last
}
