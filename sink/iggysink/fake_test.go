package iggysink

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// fake is what a producer needs of a client, in memory: a server with a stream s and a topic t that takes any time it is told.
type fake struct {
	sessionless bool
	took        time.Duration // of each send

	mu         sync.Mutex
	streams    map[string]bool       // guarded by mu
	topics     map[string]bool       // guarded by mu
	partitions uint32                // guarded by mu
	script     []func(s *sent) error // what becomes of the next sends; nil for success; guarded by mu
	sent       []*sent               // guarded by mu
	calls      []string              // guarded by mu
	ids        uint64                // guarded by mu
	inFlight   int                   // guarded by mu
	most       int                   // of inFlight; guarded by mu
	refuse     map[string]error      // calls that are refused; guarded by mu
	abandoned  []uint64              // guarded by mu
}

// sent is a send that came.
type sent struct {
	to       client.Partition
	by       wire.Partitioning
	producer *wire.Producer
	texts    []string
	messages []wire.Message
	at       time.Duration // since the begin of the bubble
}

func newFake() *fake {
	return &fake{
		streams: map[string]bool{"s": true}, topics: map[string]bool{"t": true}, partitions: 1, refuse: map[string]error{},
	}
}

func (f *fake) called(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	return f.refuse[call]
}

func fault(code wire.Code) error { return &client.Error{Code: code, Call: "fake"} }

func uncertainOf(operation uint64) error {
	return &client.Error{Code: wire.CodeOperationUncertain, Call: "fake", Operation: operation}
}

func blockedBy(operation uint64) error {
	return &client.Error{Code: wire.CodeLaneBlocked, Call: "fake", Operation: operation}
}

func (f *fake) SignIn(context.Context) error { return f.called("SignIn") }
func (f *fake) Sessionless() bool            { return f.sessionless }
func (f *fake) CallTimeout() time.Duration   { return 30 * time.Second }

func (f *fake) GetStream(_ context.Context, id wire.Identifier) (wire.StreamDetails, error) {
	err := f.called("GetStream")
	if err == nil && !f.streams[id.String()] {
		err = fault(wire.CodeStreamIDNotFound)
	}
	return wire.StreamDetails{}, err
}

func (f *fake) CreateStream(_ context.Context, name string, _ client.StreamOptions) (wire.StreamDetails, error) {
	err := f.called("CreateStream")
	if err == nil {
		f.streams[name] = true
	}
	return wire.StreamDetails{}, err
}

func (f *fake) GetTopic(_ context.Context, _, id wire.Identifier) (wire.TopicDetails, error) {
	err := f.called("GetTopic")
	if err == nil && !f.topics[id.String()] {
		err = fault(wire.CodeTopicIDNotFound)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return wire.TopicDetails{Topic: wire.Topic{PartitionsCount: f.partitions}}, err
}

func (f *fake) CreateTopic(
	_ context.Context, _ wire.Identifier, name string, partitions uint32, o client.TopicOptions,
) (wire.TopicDetails, error) {
	err := f.called("CreateTopic " + strconv.Itoa(int(partitions)) + " " + string(o.Durability) + " " + o.MessageExpiry.String())
	if err == nil {
		f.topics[name], f.partitions = true, partitions
	}
	return wire.TopicDetails{}, err
}

func (f *fake) Primary(context.Context, client.Partition) (uint8, uint32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return 0, f.partitions, f.refuse["Primary"]
}

func (f *fake) NextProducerID() (uint64, error) {
	err := f.called("NextProducerID")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	return f.ids, err
}

func (f *fake) Send(
	ctx context.Context, to client.Partition, producer *wire.Producer, messages []wire.Message,
) (wire.Confirmation, bool, error) {
	by := wire.ToPartition(to.ID)
	s, err := f.take(ctx, &sent{to: to, by: by, producer: producer}, messages)
	if err != nil {
		return wire.Confirmation{}, false, err
	}
	return wire.Confirmation{PartitionID: to.ID, BaseOffset: uint64(s)}, true, nil
}

func (f *fake) SendPartitioned(
	ctx context.Context, stream, topic wire.Identifier, by wire.Partitioning, messages []wire.Message,
) error {
	_, err := f.take(ctx, &sent{to: client.Partition{Stream: stream, Topic: topic}, by: by}, messages)
	return err
}

// take notes a send, and returns how many messages came before.
func (f *fake) take(ctx context.Context, s *sent, messages []wire.Message) (int, error) {
	s.messages = slices.Clone(messages)
	if s.producer != nil {
		section := *s.producer
		s.producer = &section
	}
	for _, m := range messages {
		s.texts = append(s.texts, string(m.Payload))
	}
	s.at = time.Since(epoch)
	s.by.Key = slices.Clone(s.by.Key)
	f.mu.Lock()
	before := 0
	for _, other := range f.sent {
		before += len(other.texts)
	}
	f.sent = append(f.sent, s)
	var do func(*sent) error
	if len(f.script) > 0 {
		do, f.script = f.script[0], f.script[1:]
	}
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	f.mu.Unlock()
	defer f.set(func() { f.inFlight-- })
	if f.took > 0 {
		select {
		case <-time.After(f.took):
		case <-ctx.Done():
			return 0, uncertainOf(99)
		}
	}
	if do != nil {
		return before, do(s)
	}
	return before, ctx.Err()
}

func (f *fake) ResolveOperation(_ context.Context, operation uint64) ([]byte, error) {
	if err := f.called("ResolveOperation " + strconv.FormatUint(operation, 10)); err != nil {
		return nil, err
	}
	return nil, nil
}

func (f *fake) AbandonOperation(operation uint64) error {
	f.set(func() { f.abandoned = append(f.abandoned, operation) })
	return nil
}

func (f *fake) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// next sets what becomes of the next sends: an error, or nil.
func (f *fake) next(outcomes ...error) {
	f.set(func() {
		for _, err := range outcomes {
			f.script = append(f.script, func(*sent) error { return err })
		}
	})
}

// requests are the texts of each send so far.
func (f *fake) requests() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all [][]string
	for _, s := range f.sent {
		all = append(all, s.texts)
	}
	return all
}

// nth is a send that came, from 0.
func (f *fake) nth(i int) *sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[i]
}

// epoch is when bubbles begin.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// bubble runs a test with a producer that is initialized.
func bubble(t *testing.T, test func(t *testing.T, f *fake, p *Producer), options ...Option) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for _, o := range options {
			if set, ok := o.(fakeOption); ok {
				set(f)
			}
		}
		p := of(f, options...)
		require.NoError(t, p.Init(t.Context()))
		defer func() { require.NoError(t, p.Shutdown(context.Background())) }() // that of t has ended
		test(t, f, p)
	})
}

// fakeOption is an option of a bubble about its fake.
type fakeOption func(*fake)

func (fakeOption) apply(*config) {}

func of(f *fake, options ...Option) *Producer {
	return newProducer(f, wire.Named("s"), wire.Named("t"), options)
}

// texts are messages.
func texts(all ...string) []wire.Message {
	var messages []wire.Message
	for _, text := range all {
		messages = append(messages, wire.Message{Payload: []byte(text)})
	}
	return messages
}

func payloads(messages []wire.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, string(m.Payload))
	}
	return all
}

// numbered are texts with numbers.
func numbered(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, strconv.Itoa(i))
	}
	return all
}

func failedOf(t *testing.T, err error) *SendFailedError {
	t.Helper()
	var failed *SendFailedError
	require.ErrorAs(t, err, &failed)
	return failed
}

// pass lets some time pass in a bubble, and what others do then happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
