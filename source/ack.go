package source

import "context"

// Ack tells what became of records that were sent to a [Push]. It is safe for concurrent use.
type Ack struct {
	done chan struct{}
	err  error // set before done is closed
}

func newAck() *Ack { return &Ack{done: make(chan struct{})} }

// Done returns a channel that is closed once the outcome is known.
func (a *Ack) Done() <-chan struct{} { return a.done }

// Err returns nil while the outcome is not known and if the records are committed; else why they were refused.
func (a *Ack) Err() error {
	select {
	case <-a.done:
		return a.err
	default:
		return nil
	}
}

// Wait waits for the outcome and returns it as Err does. The end of ctx gives up waiting, with its error.
func (a *Ack) Wait(ctx context.Context) error {
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle makes the outcome known, once, if somebody wants to know. Calls come one at a time.
func (a *Ack) settle(err error) {
	if a == nil {
		return
	}
	select {
	case <-a.done:
	default:
		a.err = err
		close(a.done)
	}
}
