package client

import (
	"fmt"
	"sync"
)

// Event is a change of the state of a client.
type Event uint8

// The events.
const (
	EventConnected    Event = iota + 1 // there is a link
	EventDisconnected                  // it is gone
	EventSignedIn                      // a session began, or goes on over a new link
	EventSignedOut                     // nobody is logged in any more; a lost link alone is none
	EventShutdown                      // the last one
)

// String returns the event in words.
func (e Event) String() string {
	names := [...]string{"connected", "disconnected", "signed in", "signed out", "shutdown"}
	if e >= 1 && int(e) <= len(names) {
		return names[e-1]
	}
	return fmt.Sprintf("event %d", uint8(e))
}

// eventRoom is how many events wait for a subscriber that is slow: enough for many links that come and go.
const eventRoom = 16

// Subscription tells of the events of a client.
type Subscription struct {
	events chan Event
	of     *events
}

// Events returns the channel of the events. A subscriber that does not keep up loses the oldest ones, never the newest:
// [Client.State] says how things are. The channel is closed behind [EventShutdown] and by [Subscription.Close].
func (s *Subscription) Events() <-chan Event { return s.events }

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.subscribers[s] {
		delete(s.of.subscribers, s)
		close(s.events)
	}
}

// Subscribe returns the events from now on.
func (c *Client) Subscribe() *Subscription {
	s := &Subscription{events: make(chan Event, eventRoom), of: &c.events}
	c.events.mu.Lock()
	defer c.events.mu.Unlock()
	if c.events.ended {
		close(s.events)
		return s
	}
	if c.events.subscribers == nil {
		c.events.subscribers = map[*Subscription]bool{}
	}
	c.events.subscribers[s] = true
	return s
}

// events hands events to subscribers and waits for none of them.
type events struct {
	mu          sync.Mutex
	subscribers map[*Subscription]bool // guarded by mu
	linked      bool                   // whether there is a link, as told; guarded by mu
	signedIn    bool                   // whether somebody is logged in, as told; guarded by mu
	ended       bool                   // guarded by mu
}

// change tells what a change of the state means.
func (e *events) change(to State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch to {
	case Connecting, Disconnected:
		e.tell(&e.linked, false, EventDisconnected)
		if to == Disconnected {
			e.tell(&e.signedIn, false, EventSignedOut)
		}
	case Connected:
		e.tell(&e.linked, true, EventConnected)
		e.tell(&e.signedIn, false, EventSignedOut)
	case Authenticating:
		e.tell(&e.linked, true, EventConnected)
	case Authenticated:
		e.tell(&e.linked, true, EventConnected)
		e.signedIn = true
		e.send(EventSignedIn)
	case ShutDown:
		e.end()
	}
}

// tell sends an event if it is news.
func (e *events) tell(is *bool, now bool, event Event) {
	if *is != now {
		*is = now
		e.send(event)
	}
}

// send gives an event to every subscriber, and takes the oldest from one that has no room. Nobody else sends.
func (e *events) send(event Event) {
	for s := range e.subscribers {
		select {
		case s.events <- event:
			continue
		default:
		}
		select {
		case <-s.events:
		default:
		}
		s.events <- event
	}
}

func (e *events) end() {
	e.tell(&e.linked, false, EventDisconnected)
	e.tell(&e.signedIn, false, EventSignedOut)
	e.send(EventShutdown)
	e.ended = true
	for s := range e.subscribers {
		close(s.events)
	}
	e.subscribers = nil
}
