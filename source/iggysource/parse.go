package iggysource

import (
	"strconv"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

// parsing makes a fetch of the messages of a batch.
type parsing[T any] struct {
	reader  *reader[T]
	batch   *batch
	draft   runnel.Draft[T]
	good    int
	times   []time.Time
	offsets []int64
	headers []runnel.Headers // nil as long as no message has any
	failed  []runnel.Failed
}

// add decrypts and decodes a message.
func (p *parsing[T]) add(m wire.Message) {
	l, f := p.batch.lease, p.reader.feed
	if f.sealed {
		opened, err := f.openMessage(l.partition, m)
		if err != nil {
			p.fail(m, err)
			return
		}
		m = opened
	}
	if p.times == nil {
		p.times, p.offsets = p.draft.Times(), p.draft.Offsets(l.assignment)
	}
	of := Message{Message: m, Partition: l.partition, lease: l}
	headers, err := recordHeaders(&of)
	if err == nil {
		err = p.reader.decode(of, &p.draft.Values[p.good])
	}
	if err != nil {
		p.fail(m, unreadable(l.partition, m, err))
		return
	}
	if headers != nil && p.headers == nil {
		p.headers = p.draft.Headers()
		clear(p.headers)
	}
	if p.headers != nil {
		p.headers[p.good] = headers
	}
	p.times[p.good] = of.OriginTime()
	p.offsets[p.good] = int64(m.Offset)
	p.good++
}

// fail makes a failed record of a message.
func (p *parsing[T]) fail(m wire.Message, why error) {
	f := p.reader.feed
	meta := runnel.Meta{Origin: runnel.Origin{
		Source: f.source, Partition: partitionName(p.batch.lease.partition), Offset: int64(m.Offset),
	}}
	if m.OriginTimestamp > 0 {
		meta.Time = time.UnixMicro(int64(m.OriginTimestamp))
	}
	p.failed = append(p.failed, runnel.Failed{Meta: meta, Value: m.Payload, Stage: f.source, Attempts: 1, Err: why})
}

// fetch returns what came of it, without a position.
func (p *parsing[T]) fetch() runnel.Fetch[T] {
	return runnel.Fetch[T]{Batch: p.draft.Batch(p.good), Failed: p.failed}
}

// recordHeaders returns the user headers of a message as those of a record. Texts and raw bytes are as they are, whatever
// else as text; nil if there are none.
func recordHeaders(m *Message) (runnel.Headers, error) {
	decoded, err := m.Headers()
	if len(decoded) == 0 || err != nil {
		return nil, err
	}
	headers := make(runnel.Headers, len(decoded))
	for i, h := range decoded {
		headers[i] = runnel.Header{Name: string(plainBytes(h.Key)), Value: plainBytes(h.Value)}
	}
	return headers, nil
}

// plainBytes returns a value as bytes that need no kind.
func plainBytes(v wire.Value) []byte {
	if b, ok := v.Bool(); ok {
		return strconv.AppendBool(nil, b)
	}
	if n, ok := v.Uint(); ok {
		return strconv.AppendUint(nil, n, 10)
	}
	if n, ok := v.Int(); ok {
		return strconv.AppendInt(nil, n, 10)
	}
	if x, ok := v.Float(); ok {
		bits := 64
		if v.Kind == wire.KindFloat32 {
			bits = 32
		}
		return strconv.AppendFloat(nil, x, 'g', -1, bits)
	}
	return v.Data
}
