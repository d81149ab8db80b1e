package client

import (
	"context"
	"time"
)

// Pauses between the attempts of a call.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// mostEvictions is how many links may end because a server does not understand what was sent, before a request that was
// under way each time is taken for the one that it was.
const mostEvictions = 1

// pause is the time until the next attempt of a call. It doubles, and half of it is random.
type pause struct {
	next   time.Duration
	jitter func(limit time.Duration) time.Duration
}

func (c *Client) newPause() pause { return pause{next: firstPause, jitter: c.config.jitter} }

// wait waits, and says whether ctx has not ended.
func (p *pause) wait(ctx context.Context) bool {
	d := p.next/2 + p.jitter(p.next/2)
	p.next = min(2*p.next, lastPause)
	return sleep(ctx, d)
}

// sleep waits for some time, and says whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
