package runnel

import (
	"fmt"

	"github.com/runnel-go/runnel/internal/engine"
)

// checkLedger closes the ledger of a run that ended without an error: every record that entered has one outcome. A
// difference is a bug of the pipeline or of a stage, and an error.
func (p *Pipeline) checkLedger(a *attempt) error {
	for _, n := range p.nodes {
		t := n.tally
		if n.role == engine.RoleSource {
			committed, _ := n.handle.Load().Committed()
			if read, abandoned := t.In.Load(), t.Abandoned.Load(); a.tries == 1 && read != committed+abandoned {
				return fmt.Errorf("runnel: ledger: %s read %d records, committed %d and abandoned %d", n.name, read, committed, abandoned)
			}
		}
		if n.role == engine.RoleStage {
			in, passed := t.In.Load(), t.Passed.Load()
			if !t.Own.Load() {
				continue
			}
			if passed == 0 {
				passed = t.Out.Load()
			}
			rest := in - passed - t.Filtered.Load() - t.Skipped.Load() - t.DeadLettered.Load() - t.Held.Load()
			if rest != 0 && a.tries == 1 {
				return fmt.Errorf("runnel: ledger: %s received %d records, and %d of them have no outcome", n.name, in, rest)
			}
		}
	}
	for _, task := range a.tasks {
		for i, l := range task.Links() {
			if sent, received := l.Sent.Load(), l.Received.Load(); sent != received {
				return fmt.Errorf("runnel: ledger: input %d of %s was sent %d records and received %d", i, task.Name, sent, received)
			}
		}
	}
	return nil
}
