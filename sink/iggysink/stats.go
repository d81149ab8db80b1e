package iggysink

import "sync/atomic"

// Stats counts what a producer did.
type Stats struct {
	// Sent is how many messages were taken: from sends, and from records of pipelines.
	Sent int64
	// Confirmed is how many of them the server has stored.
	Confirmed int64
	// Failed is how many were not written, or may not have been; those are told to whoever sent them.
	Failed int64
	// Uncertain is how many of the failed ones may have been written.
	Uncertain int64
	// Requests is how many requests were written with success.
	Requests int64
	// Retried is how often a producer sent a request again after it had failed, beside what the client does by itself.
	Retried int64
	// Buffered is how many messages are buffered or being written right now.
	Buffered int64
	// BufferedBytes is their size, as MaxBufferBytes counts it.
	BufferedBytes int64
}

// counters are Stats while they are being counted.
type counters struct {
	sent, confirmed, failed, uncertain, requests, retried, buffered, bufferedBytes atomic.Int64
}

func (c *counters) stats() Stats {
	return Stats{
		Sent: c.sent.Load(), Confirmed: c.confirmed.Load(), Failed: c.failed.Load(), Uncertain: c.uncertain.Load(),
		Requests: c.requests.Load(), Retried: c.retried.Load(),
		Buffered: c.buffered.Load(), BufferedBytes: c.bufferedBytes.Load(),
	}
}

// wrote counts a request that was written.
func (c *counters) wrote(messages int) {
	c.confirmed.Add(int64(messages))
	c.requests.Add(1)
}

// lost counts messages that were not confirmed.
func (c *counters) lost(messages, uncertain int) {
	c.failed.Add(int64(messages))
	c.uncertain.Add(int64(uncertain))
}
