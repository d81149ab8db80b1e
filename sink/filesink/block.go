package filesink

// block holds encoded records on their way to the file.
type block struct {
	bytes   []byte
	ends    []int // of each record in bytes
	earlier int   // how many of them are of earlier batches
	rows    []int // of the others: which record of the batch at hand it is
}

// begin says that a new batch is at hand.
func (b *block) begin() { b.earlier, b.rows = len(b.ends), b.rows[:0] }

// add takes bytes with a record of the batch at hand behind what was there.
func (b *block) add(bytes []byte, row int) {
	b.bytes = bytes
	b.ends = append(b.ends, len(bytes))
	b.rows = append(b.rows, row)
}

// taken removes the records in the first n bytes, which end with a whole record.
func (b *block) taken(n int) {
	if n == len(b.bytes) {
		b.bytes, b.ends, b.rows, b.earlier = b.bytes[:0], b.ends[:0], b.rows[:0], 0
		return
	}
	records := 0
	for records < len(b.ends) && b.ends[records] <= n {
		records++
	}
	b.bytes = b.bytes[:copy(b.bytes, b.bytes[n:])]
	b.ends = b.ends[:copy(b.ends, b.ends[records:])]
	for i := range b.ends {
		b.ends[i] -= n
	}
	ofBatch := max(0, records-b.earlier)
	b.earlier = max(0, b.earlier-records)
	b.rows = b.rows[:copy(b.rows, b.rows[ofBatch:])]
}

// refuse removes the records of the batch at hand and returns which they are.
func (b *block) refuse() []int {
	start := 0
	if b.earlier > 0 {
		start = b.ends[b.earlier-1]
	}
	b.bytes, b.ends = b.bytes[:start], b.ends[:b.earlier]
	rows := b.rows
	b.rows = b.rows[:0]
	return rows
}

// clear removes everything, and gives memory back that a record much larger than limit took.
func (b *block) clear(limit int) {
	b.taken(len(b.bytes))
	if cap(b.bytes) > 4*limit {
		b.bytes = nil
	}
}
