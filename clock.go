package runnel

import "time"

// Clock tells the time and waits. The default is the machine's; tests use that of package runneltest.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// After returns a channel that receives the time once d has passed, and a function that gives the wait up.
	After(d time.Duration) (c <-chan time.Time, stop func())
}
