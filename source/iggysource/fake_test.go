package iggysource

import (
	"context"
	"sync"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// fake is a client in whose place a test says what happens. It keeps messages of a few partitions.
type fake struct {
	sessionless, encrypts bool

	mu       sync.Mutex
	arrived  chan struct{} // closed when a message comes
	logs     map[uint32][]wire.Message
	offsets  map[uint32]uint64
	assigned []uint32
	life     uint64
	owner    uint64
	calls    []string

	onRead  func(partition uint32) error // before a read
	onStore func(partition uint32, offset uint64) error
	onSync  func() error
	onJoin  func() error
	primary map[uint32]uint8                              // 0 for others
	reads   [][]uint32                                    // partitions of each read, as long as it is not nil
	stuck   bool                                          // stores have no answer
	records func(partition uint32, records []byte) []byte // of a reply
}

func newFake(partitions ...uint32) *fake {
	f := &fake{
		arrived: make(chan struct{}), logs: map[uint32][]wire.Message{}, offsets: map[uint32]uint64{}, assigned: partitions,
		life: 1, owner: 1,
	}
	for _, p := range partitions {
		f.logs[p] = nil
	}
	return f
}

// add puts messages with numbers into a partition.
func (f *fake) add(partition uint32, from, to int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := from; i < to; i++ {
		f.logs[partition] = append(f.logs[partition], wire.Message{
			ID: wire.Uint128{Lo: 1}, Payload: text(partition, i), Timestamp: uint64(time.Now().UnixMicro()),
		})
	}
	f.wake()
}

func (f *fake) wake() {
	close(f.arrived)
	f.arrived = make(chan struct{})
}

// set changes the fake under its lock.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.wake()
}

func (f *fake) note(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

// count returns how often a call was made.
func (f *fake) count(call string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c == call {
			n++
		}
	}
	return n
}

func coded(code wire.Code) error { return &client.Error{Code: code, Call: "fake"} }

func (f *fake) SignIn(context.Context) error { f.note("sign in"); return nil }
func (f *fake) Sessionless() bool            { return f.sessionless }
func (f *fake) Encrypts() bool               { return f.encrypts }

func (f *fake) Primary(_ context.Context, p client.Partition) (uint8, uint32, error) {
	return f.primary[p.ID], uint32(len(f.logs)), nil
}

func (f *fake) GetTopic(context.Context, wire.Identifier, wire.Identifier) (wire.TopicDetails, error) {
	return wire.TopicDetails{Topic: wire.Topic{PartitionsCount: uint32(len(f.logs))}}, nil
}

func (f *fake) Open(_ uint32, m wire.Message) (wire.Message, error) { return m, nil }

func (f *fake) Poll(
	ctx context.Context, _ wire.Consumer, of client.Partition, s wire.PollingStrategy, under wire.PartitionContext, read client.Read,
) (wire.PolledMessages, error) {
	got, err := f.read(ctx, []client.Target{{Partition: of.ID, Strategy: s, Under: under}}, read)
	if err != nil {
		return wire.PolledMessages{}, err
	}
	if got[0].Status != 0 {
		return wire.PolledMessages{}, coded(got[0].Status)
	}
	return wire.PolledMessages{
		Partition: of.ID, CurrentOffset: got[0].CurrentOffset, Count: got[0].Count, Context: got[0].Context, Records: got[0].Records,
	}, nil
}

func (f *fake) Fetch(
	ctx context.Context, _ wire.Consumer, _, _ wire.Identifier, targets []client.Target, read client.Read,
) (wire.FetchedMessages, error) {
	sections, err := f.read(ctx, targets, read)
	return wire.FetchedMessages{Sections: sections}, err
}

// read waits until there is something, as a server does.
func (f *fake) read(ctx context.Context, targets []client.Target, read client.Read) ([]wire.FetchSection, error) {
	f.noteRead(targets)
	late := time.NewTimer(read.Wait)
	defer late.Stop()
	for over := read.Wait == 0; ; {
		for _, t := range targets {
			f.mu.Lock()
			hook := f.onRead
			f.mu.Unlock()
			if hook == nil {
				continue
			}
			if err := hook(t.Partition); err != nil {
				return nil, err
			}
		}
		f.mu.Lock()
		sections, enough := f.serve(targets, read)
		arrived := f.arrived
		f.mu.Unlock()
		if enough || over {
			return sections, nil
		}
		select {
		case <-arrived:
		case <-late.C:
			over = true
		case <-ctx.Done():
			return nil, &client.Error{Code: wire.CodeTransientNotAccepted, Call: "fake", Err: ctx.Err()}
		}
	}
}

func (f *fake) noteRead(targets []client.Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reads == nil {
		return
	}
	var ids []uint32
	for _, t := range targets {
		ids = append(ids, t.Partition)
	}
	f.reads = append(f.reads, ids)
}

func (f *fake) serve(targets []client.Target, read client.Read) (sections []wire.FetchSection, enough bool) {
	left := read.Count
	for _, t := range targets {
		s := wire.FetchSection{Partition: t.Partition}
		log := f.logs[t.Partition]
		if len(log) > 0 {
			s.CurrentOffset = uint64(len(log) - 1)
		}
		switch {
		case t.Under.Incarnation != 0 && t.Under.Incarnation != f.life:
			s.Status = wire.CodeHistoryUnavailable
		case t.Under.OwnerGeneration != 0 && t.Under.OwnerGeneration != f.owner:
			s.Status = wire.CodeConsumerGroupPartitionNotOwned
		}
		if s.Status != 0 {
			sections, enough = append(sections, s), true
			continue
		}
		s.Context = wire.PartitionContext{Incarnation: f.life, OwnerGeneration: f.owner}
		from := f.begin(t.Partition, t.Strategy, read.Count)
		n := min(uint64(left), uint64(len(log))-min(from, uint64(len(log))))
		s.NextOffset, s.Count = from+n, uint32(n)
		if n > 0 {
			s.Records, enough, left = encode(log[from:from+n], from), true, left-uint32(n)
			if f.records != nil {
				s.Records = f.records(t.Partition, s.Records)
			}
			if read.AutoCommit {
				f.offsets[t.Partition] = from + n - 1
			}
		}
		sections = append(sections, s)
	}
	return sections, enough
}

func (f *fake) begin(partition uint32, s wire.PollingStrategy, count uint32) uint64 {
	log := f.logs[partition]
	switch s.Kind {
	case wire.FromOffset:
		return s.Value
	case wire.FromLast:
		return uint64(len(log)) - min(uint64(len(log)), uint64(count))
	case wire.FromTimestamp:
		for i, m := range log {
			if m.Timestamp >= s.Value {
				return uint64(i)
			}
		}
		return uint64(len(log))
	case wire.FromNext:
		if stored, ok := f.offsets[partition]; ok {
			return stored + 1
		}
	}
	return 0
}

// encode makes a stored batch of messages.
func encode(messages []wire.Message, base uint64) []byte {
	batch, err := wire.AppendBatch(nil, nil, messages)
	if err == nil {
		err = wire.StampBatch(batch, 0, base, messages[0].Timestamp)
	}
	if err != nil {
		panic(err)
	}
	return batch
}

func (f *fake) StoreOffset(
	ctx context.Context, _ wire.Consumer, of client.Partition, offset uint64, under wire.PartitionContext,
) error {
	f.note("store")
	if f.stuck {
		<-ctx.Done()
		return coded(wire.CodeTransientNotAccepted)
	}
	if f.onStore != nil {
		if err := f.onStore(of.ID, offset); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case under.Incarnation != 0 && under.Incarnation != f.life:
		return coded(wire.CodeHistoryUnavailable)
	case under.OwnerGeneration != 0 && under.OwnerGeneration != f.owner:
		return coded(wire.CodeConsumerGroupPartitionNotOwned)
	}
	f.offsets[of.ID] = offset
	return nil
}

func (f *fake) DeleteOffset(_ context.Context, _ wire.Consumer, of client.Partition, _ wire.PartitionContext) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.offsets, of.ID)
	return nil
}

func (f *fake) GetOffset(_ context.Context, _ wire.Consumer, of client.Partition) (wire.ConsumerOffset, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stored, found := f.offsets[of.ID]
	return wire.ConsumerOffset{Partition: of.ID, Stored: stored}, found, nil
}

// storedAt returns the stored offset of a partition, or -1.
func (f *fake) storedAt(partition uint32) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset, ok := f.offsets[partition]; ok {
		return int(offset)
	}
	return -1
}

func (f *fake) CreateConsumerGroup(context.Context, wire.Identifier, wire.Identifier, string) (wire.GroupDetails, error) {
	f.note("create")
	return wire.GroupDetails{}, nil
}

func (f *fake) JoinConsumerGroup(context.Context, wire.GroupOf) error {
	f.note("join")
	if f.onJoin != nil {
		return f.onJoin()
	}
	return nil
}

func (f *fake) LeaveConsumerGroup(context.Context, wire.GroupOf) error { f.note("leave"); return nil }

func (f *fake) SyncConsumerGroup(context.Context, wire.GroupOf) (wire.Assignment, error) {
	f.note("sync")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.onSync != nil {
		if err := f.onSync(); err != nil {
			return wire.Assignment{}, err
		}
	}
	return wire.Assignment{Generation: f.owner, Partitions: append([]uint32(nil), f.assigned...)}, nil
}

func (f *fake) ResolveOperation(context.Context, uint64) ([]byte, error) {
	f.note("resolve")
	return nil, nil
}

func (f *fake) AbandonOperation(uint64) error { f.note("abandon"); return nil }
