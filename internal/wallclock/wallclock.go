// Package wallclock is the machine's clock, as the interfaces of clocks in this module want it.
package wallclock

import "time"

// Clock tells the time and waits by the machine.
type Clock struct{}

// Now returns the current time.
func (Clock) Now() time.Time { return time.Now() }

// After returns a channel that receives the time once d has passed, and a function that gives the wait up.
func (Clock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
