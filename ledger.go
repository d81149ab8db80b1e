package runnel

import (
	"fmt"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// giveUp counts, after an attempt that failed, what it read and did not commit: it is read again.
func (p *Pipeline) giveUp() {
	p.mu.Lock() // so that nobody counts a record twice meanwhile
	defer p.mu.Unlock()
	for _, n := range p.nodes {
		if h := n.handle.Load(); h != nil {
			committed, _ := h.Committed()
			n.committed.Add(committed)
			n.handle.Store(nil)
			n.tally.Abandoned.Store(n.tally.In.Load() - n.committed.Load())
		}
	}
}

// committedRecords returns how many records of a source were committed, in all attempts.
func (n *node) committedRecords() (int64, checkpoint.Position) {
	past := n.committed.Load()
	h := n.handle.Load()
	if h == nil {
		return past, nil
	}
	now, pos := h.Committed()
	return past + now, pos
}

// checkLedger closes the ledger of a run that ended without an error: every record that entered has one outcome. A
// difference is a bug of the pipeline or of a stage, and an error.
func (p *Pipeline) checkLedger(a *attempt) error {
	for _, n := range p.nodes {
		t := n.tally
		if n.role == engine.RoleSource {
			committed, _ := n.committedRecords()
			if read, abandoned := t.In.Load(), t.Abandoned.Load(); read != committed+abandoned {
				return fmt.Errorf("runnel: ledger: %s read %d records, committed %d and abandoned %d", n.name, read, committed, abandoned)
			}
		}
		if n.role == engine.RoleStage {
			if !t.Own.Load() {
				continue
			}
			in := t.In.Load()
			passed := t.Passed.Load()
			rest := in - passed - t.Filtered.Load() - t.Skipped.Load() - t.DeadLettered.Load() - t.Held.Load()
			if passed == 0 && rest == t.Out.Load() {
				continue // it counts what it filters, and each output stands for one input
			}
			if rest != 0 && a.tries == 1 {
				return fmt.Errorf("runnel: ledger: %s received %d records and has counted an outcome for %d: "+
					"a stage that calls Out.Passed or Out.Filtered accounts for every record it receives", n.name, in, in-rest)
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
