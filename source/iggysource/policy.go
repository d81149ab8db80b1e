package iggysource

import "time"

// commitPolicy says who stores offsets.
type commitPolicy uint8

const (
	commitManually commitPolicy = iota
	commitAutomatically
	commitOnRead
)

// CommitAfter says when a message counts as handled, so that its offset may be stored by itself.
type CommitAfter uint8

const (
	// AfterProcessing: when the next message is asked for, the handler of [Consumer.Consume] has returned nil, or the consumer
	// is shut down. A message whose handler failed does not count.
	AfterProcessing CommitAfter = iota
	// AfterDelivery: when it is handed out. What a program that ends then had in hand is lost.
	AfterDelivery
	// AfterMark: when it, or a later one of its partition, is given to [Consumer.Mark].
	AfterMark
)

// AutoCommit says when offsets are stored by themselves: whenever any of Interval, Messages and EachBatch says so, for each
// partition that of the newest message that counts. At least one of them has to be set.
type AutoCommit struct {
	// Interval is the time between two stores; 0 for none by time.
	Interval time.Duration
	// Messages is after how many messages that count there is a store: 1 for each. 0 for none by number.
	Messages uint32
	// EachBatch stores behind each batch that came from the server.
	EachBatch bool
	// After says when a message counts. The zero value is AfterProcessing.
	After CommitAfter
}

// DefaultAutoCommit stores every 10,000 messages or 5 s, after processing.
func DefaultAutoCommit() AutoCommit {
	return AutoCommit{Interval: 5 * time.Second, Messages: 10_000}
}
