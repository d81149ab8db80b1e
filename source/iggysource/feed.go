package iggysource

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/runnel-go/runnel/transport/wire"
)

// feed reads for a consumer from Init to Shutdown, or for one attempt of a pipeline. Workers make the reads that pump plans;
// what they read is queued in the order it came and handed out by one caller at a time.
type feed struct {
	api    api
	cfg    config
	who    wire.Consumer
	log    *slog.Logger
	source string // name of the source in a pipeline; empty for a consumer that is used alone
	sealed bool   // messages have to be decrypted

	jobs    chan *job     // holds as many as there are slots
	arrived chan struct{} // holds one when something was queued
	due     chan struct{} // holds one when offsets are to be stored
	resync  chan struct{} // holds one when the assignment is to be looked at
	gone    chan struct{} // closed by close
	tasks   sync.WaitGroup
	cancel  context.CancelFunc // of all tasks
	once    sync.Once
	stats   counters
	failed  atomic.Bool // a handler failed, so that its message does not count

	hand hand // of who calls next

	mu        sync.Mutex
	cursors   map[uint32]*cursor // guarded by mu, like all below
	order     []*cursor          // the same, in the order in which they take turns
	turn      int
	slots     int // that are free
	waiting   []*job
	started   bool // somebody wants messages
	asking    bool // and waits for them right now
	closed    bool
	broken    error // why there is no more
	queue     queue
	yielded   map[uint32]yield
	parting   []*lease          // of partitions that are gone, whose offsets are not stored
	uncertain map[uint32]uint64 // operation that is in the way of the offsets of a partition
	membering uint64            // operation that is in the way of a change of membership
	marked    uint32            // messages marked since the last store
	joined    bool              // the group has to be left
	synced    bool              // an assignment was looked at
	ends      map[uint32]uint64 // where a bounded read ends, by partition; nil if it does not, or not yet
}

// yield says up to where a partition was handed out before it went.
type yield struct {
	incarnation uint64
	next        uint64
}

func newFeed(api api, cfg config, log *slog.Logger, source string) *feed {
	slots := cfg.slots()
	return &feed{
		api: api, cfg: cfg, who: cfg.who(), log: log, source: source, sealed: api.Encrypts(),
		jobs:    make(chan *job, slots),
		arrived: make(chan struct{}, 1),
		due:     make(chan struct{}, 1),
		resync:  make(chan struct{}, 1),
		gone:    make(chan struct{}),
		cancel:  func() {},
		slots:   slots,
		cursors: map[uint32]*cursor{}, yielded: map[uint32]yield{}, uncertain: map[uint32]uint64{},
	}
}

// signal puts a value into a channel that holds one, if it is not there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin starts the tasks, and others of the caller. They do not end with ctx, but with close.
func (f *feed) begin(ctx context.Context, others ...func(ctx context.Context)) {
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for range cap(f.jobs) {
		f.tasks.Go(func() { f.work(ctx) })
	}
	for _, other := range others {
		f.tasks.Go(func() { other(ctx) })
	}
	if f.cfg.commits != commitManually {
		f.tasks.Go(func() { f.storeLoop(ctx) })
	}
	if f.cfg.group {
		f.tasks.Go(func() { f.syncLoop(ctx) })
	}
}

// add begins to read a partition.
func (f *feed) add(c *cursor) {
	f.cursors[c.id] = c
	f.order = append(f.order, c)
	if f.ends != nil {
		c.end.Store(f.ends[c.id]) // one that came later has nothing to read
		f.checkEnd(c)
	}
}

// drop ends reading a partition: what is queued of it is still there.
func (f *feed) drop(c *cursor) {
	c.cancel()
	c.resume()
	delete(f.cursors, c.id)
	for i, other := range f.order {
		if other == c {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			break
		}
	}
	if next := c.lease.delivered.Load(); next > 0 {
		f.yielded[c.id] = yield{c.lease.context.Incarnation, next}
	}
}

// end makes an error the last thing that is handed out.
func (f *feed) end(err error) {
	if f.broken == nil {
		f.broken = err
		signal(f.arrived)
	}
}

// halt ends reading: no job begins any more, those under way end early, and who waits for messages is woken.
func (f *feed) halt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	for _, c := range f.order {
		c.cancel()
		if c.timer != nil {
			c.timer.Stop()
		}
	}
	close(f.gone)
}

// close ends all tasks.
func (f *feed) close() {
	f.halt()
	f.cancel()
	f.tasks.Wait()
}

// all returns the leases whose offsets may be stored.
func (f *feed) all() []*lease {
	f.mu.Lock()
	defer f.mu.Unlock()
	leases := append([]*lease(nil), f.parting...)
	for _, c := range f.order {
		leases = append(leases, c.lease)
	}
	return leases
}
