package broker

// Store keeps what a broker must not forget when its process ends: the metadata and the offsets of consumers, as entries
// with a key, and the logs of messages. The broker closes the logs; who made the store closes it after the broker.
type Store interface {
	// Load hands over each entry once, in any order, and returns how often the store was loaded before. The broker calls
	// it first, and once. An error of entry is returned.
	Load(entry func(key string, value []byte) error) (starts uint64, err error)
	// Commit makes changes, all of them or, with an error, none. Once it returns nil they count: a client is told so. It
	// is called by one goroutine at a time, and holds up all others that need the metadata.
	Commit(changes ...Change) error
	// OpenLog returns the log of a partition: an empty one if there is none.
	OpenLog(spec LogSpec) (Log, error)
	// Prune removes the logs that were not opened since Load. They are left from partitions whose end was committed just
	// before a process ended.
	Prune() error
}

// Change sets an entry of a store, or removes it.
type Change struct {
	// Key is the name of the entry: any bytes, at least one.
	Key string
	// Value is its content; nil removes the entry, if there is one.
	Value []byte
}

// memStore is a store in memory.
type memStore struct{}

func (memStore) Load(func(string, []byte) error) (uint64, error) { return 0, nil }
func (memStore) Commit(...Change) error                          { return nil }
func (memStore) OpenLog(spec LogSpec) (Log, error)               { return newMemLog(spec.SegmentBytes), nil }
func (memStore) Prune() error                                    { return nil }
