package iggyserver

import (
	"errors"
	"net"
)

// streamFault is what happens to the bytes of a connection. Zeros are nothing.
type streamFault struct {
	cut   int // bytes written until the end; for one connection
	stop  int // bytes read until the end; for one connection
	split int // bytes in a message
	merge int // answers in a message
}

// Cut ends the next connection over TCP or WebSocket as soon as so many bytes of answers were written, which may be in the
// middle of one. QUIC has no such place: its streams end one by one.
func (f *Faults) Cut(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams.cut = bytes
}

// CutRequests ends the next connection over TCP or WebSocket as soon as so many bytes of requests were read, which may be in
// the middle of one.
func (f *Faults) CutRequests(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams.stop = bytes
}

// SplitMessages sends answers over WebSocket in messages of at most so many bytes, on connections that come from then on;
// over TCP they are written in such pieces. 0 goes back to a message an answer.
func (f *Faults) SplitMessages(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams.split, f.streams.merge = bytes, 0
}

// MergeMessages gathers so many answers over WebSocket in each message, on connections that come from then on; over TCP they
// are written together. An answer waits until there are as many. 0 goes back to a message an answer.
func (f *Faults) MergeMessages(answers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams.split, f.streams.merge = 0, answers
}

// wrap puts the faults that are set between the frames and a new connection.
func (f *Faults) wrap(conn net.Conn) net.Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.streams
	f.streams.cut, f.streams.stop = 0, 0
	if now == (streamFault{}) {
		return conn
	}
	return &faultyConn{Conn: conn, fault: now}
}

// errCut ends a connection.
var errCut = errors.New("cut for a test")

// faultyConn writes answers otherwise than they came, or ends. One goroutine reads, and one at a time writes.
type faultyConn struct {
	net.Conn
	fault streamFault
	got   int    // bytes read
	sent  int    // bytes written
	kept  []byte // answers that wait for others
	count int    // how many
}

// Read reads what comes, up to where it is cut.
func (c *faultyConn) Read(b []byte) (int, error) {
	if c.fault.stop == 0 {
		return c.Conn.Read(b)
	}
	if c.got == c.fault.stop {
		return 0, errCut
	}
	n, err := c.Conn.Read(b[:min(len(b), c.fault.stop-c.got)])
	c.got += n
	return n, err
}

// Write writes a frame. The error is errCut in the middle of the one that has to be cut.
func (c *faultyConn) Write(frame []byte) (int, error) {
	b := frame
	if c.fault.merge > 0 {
		c.kept = append(c.kept, frame...)
		if c.count++; c.count < c.fault.merge {
			return len(frame), nil
		}
		b, c.kept, c.count = c.kept, nil, 0
	}
	return len(frame), c.write(b)
}

func (c *faultyConn) write(b []byte) error {
	ends := c.fault.cut > 0 && c.sent+len(b) >= c.fault.cut
	if ends {
		b = b[:c.fault.cut-c.sent]
	}
	for len(b) > 0 {
		piece := b
		if c.fault.split > 0 {
			piece = b[:min(len(b), c.fault.split)]
		}
		n, err := c.Conn.Write(piece)
		c.sent += n
		if err != nil {
			return err
		}
		b = b[len(piece):]
	}
	if ends {
		return errCut
	}
	return nil
}
