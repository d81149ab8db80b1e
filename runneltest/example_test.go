package runneltest_test

import (
	"fmt"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/runneltest"
)

// The test feeds the source, moves the clock and looks at the sink; a minute of linger takes no time. In a test, t is its
// *testing.T.
func Example() {
	t, end := testOfExample()
	defer end()
	clock, in, out := runneltest.NewClock(time.Time{}), runneltest.NewDriver[string](t), runneltest.NewProbe[[]string]()
	p := runnel.New("batches", runnel.WithClock(clock), runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(time.Hour)))
	flow.Batch(runnel.From(p, in), 3, time.Minute).To(out)
	run := runneltest.Start(t, p)

	in.Send("a", "b", "c", "d")
	fmt.Println("full:", out.Await(t, 1))
	clock.AwaitTimer(t, time.Minute) // the stage has begun to wait for more than d
	clock.Advance(time.Minute - 1)
	fmt.Println("a nanosecond early:", out.Values())
	clock.Advance(1)
	fmt.Println("lingered:", out.Await(t, 2))
	in.Send("e")
	in.Checkpoint() // a marker waits for nothing
	fmt.Println("behind a marker:", out.Values(), in.Committed(), "committed")
	in.End()
	fmt.Println("error:", run.Wait())
	// Output:
	// full: [[a b c]]
	// a nanosecond early: [[a b c]]
	// lingered: [[a b c] [d]]
	// behind a marker: [[a b c] [d] [e]] 5 committed
	// error: <nil>
}
