package broker

import "github.com/runnel-go/runnel/transport/wire"

// AppendWithin appends to dst what a batch has from an offset on within the limits: the batch as it is if it fits, or else
// a part. It returns the longer slice and the number of messages. The batch may lie right behind dst, in the same memory.
func AppendWithin(dst, batch []byte, from uint64, limit ReadLimit) ([]byte, uint32, error) {
	h, err := wire.DecodeBatchHeader(batch)
	if err != nil {
		return dst, 0, err
	}
	if from <= h.BaseOffset && h.Count <= limit.Count && len(batch) <= limit.Bytes {
		return append(dst, batch...), h.Count, nil
	}
	most, err := fitting(batch, from, limit)
	if err != nil || most == 0 {
		return dst, 0, err
	}
	return wire.AppendSlice(dst, batch, from, most)
}

// fitting returns how many messages of a batch, from an offset on, are within the limits.
func fitting(batch []byte, from uint64, limit ReadLimit) (uint32, error) {
	var count uint32
	room := limit.Bytes - wire.BatchHeaderSize
	records := wire.NewRecords(batch)
	for count < limit.Count && records.Next() {
		m := records.Message()
		if m.Offset < from {
			continue
		}
		room -= wire.MessageHeaderSize + len(m.Payload) + len(m.UserHeaders)
		if room < 0 && (count > 0 || !limit.AtLeastOne) {
			break
		}
		count++
	}
	return count, records.Err()
}
