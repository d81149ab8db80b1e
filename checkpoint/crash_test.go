package checkpoint

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	errCrashed = errors.New("the process is gone")
	errFull    = errors.New("no space left on device")
)

// lossSeeds is how many random losses of power each point of each scenario is tried with.
const lossSeeds = 20

// scenario is a change of a folder that may be cut short anywhere.
type scenario struct {
	name string
	// saved is in the folder before.
	saved []*Checkpoint
	// act changes it.
	act func(Log, *memFolder) error
	// want are the newest checkpoints there may be after a crash, from the one before to the one after act; nil is none.
	want []*Checkpoint
}

func scenarios() []scenario {
	one := flights(1, full("count", "a", "1"))
	chain := []*Checkpoint{one, flights(2, changes("count", "a", "2")), flights(3, changes("count", "b", "3"))}
	three := flights(3, full("count", "a", "2", "b", "3"))
	alone := []*Checkpoint{flights(1, nil), flights(2, nil), flights(3, nil)}
	saving := func(c *Checkpoint) func(Log, *memFolder) error {
		return func(log Log, _ *memFolder) error { return log.Save(ctx, c) }
	}
	rewinding := func(n Number) func(Log, *memFolder) error {
		return func(log Log, _ *memFolder) error { return log.Rewind(ctx, n) }
	}
	return []scenario{
		{"first checkpoint", nil, saving(one), []*Checkpoint{nil, one}},
		{"change", chain, saving(flights(4, changes("count", "c", "4"))),
			[]*Checkpoint{three, flights(4, full("count", "a", "2", "b", "3", "c", "4"))}},
		{"new chain", chain, saving(flights(4, full("count", "z", "4"))),
			[]*Checkpoint{three, flights(4, full("count", "z", "4"))}},
		{"new chain that prunes one", append(chain, flights(4, full("count")), flights(5, changes("count"))),
			saving(flights(6, full("count", "z", "6"))),
			[]*Checkpoint{flights(5, full("count")), flights(6, full("count", "z", "6"))}},
		{"checkpoint that prunes one", alone, saving(flights(4, nil)), []*Checkpoint{alone[2], flights(4, nil)}},
		{"large checkpoint", alone, saving(flights(4, full("count", "a", strings.Repeat("x", 3*writeBuffer)))),
			[]*Checkpoint{alone[2], flights(4, full("count", "a", strings.Repeat("x", 3*writeBuffer)))}},
		{"rewind by one", alone, rewinding(2), []*Checkpoint{alone[2], alone[1]}},
		{"rewind within a chain", chain, rewinding(1), []*Checkpoint{three, flights(2, full("count", "a", "2")), one}},
		{"rewind of everything", alone, rewinding(0), []*Checkpoint{alone[2], alone[1], alone[0], nil}},
		{"rewind and save", alone, func(log Log, _ *memFolder) error {
			return errors.Join(log.Rewind(ctx, 2), log.Save(ctx, flights(3, full("count"))))
		}, []*Checkpoint{alone[2], alone[1], flights(3, full("count"))}},
	}
}

// arrange returns the folder of a scenario and its log, which is not closed: most will crash.
func (s scenario) arrange(t *testing.T) (*memFolder, Log) {
	t.Helper()
	m := newMemFolder()
	log, err := m.store().Open(ctx, "flights")
	require.NoError(t, err)
	save(t, log, s.saved...)
	m.ops = nil
	return m, log
}

// newest returns the newest checkpoint, or nil.
func newest(t *testing.T, log Log) *Checkpoint {
	t.Helper()
	c, err := log.Load(ctx, 0)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	require.NoError(t, err)
	return c
}

// crashAt makes operation k and all after it fail, as they do for a process that is gone.
func (m *memFolder) crashAt(k int) {
	n := 0
	m.before = func(string, string) error {
		n++
		if n > k {
			return errCrashed
		}
		return nil
	}
}

func TestCrashAtAnyOperationLeavesTheFormerOrTheNewCheckpoint(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for k := 0; ; k++ {
				m, log := s.arrange(t)
				m.crashAt(k)
				err := s.act(log, m)
				want := s.want
				done := len(m.ops) <= k
				if done {
					require.NoError(t, err)
					want = want[len(want)-1:] // what is done stays done
				}
				for _, l := range losses(lossSeeds) {
					requireRestart(t, m.after(l), want, "crash at operation %d of %v, %s", k, m.ops, l.name)
				}
				if done {
					require.Greater(t, k, 1, "the scenario changes nothing")
					return
				}
			}
		})
	}
}

// requireRestart opens the folder as the next run does: it finds one of want, no leftovers, and can go on from there.
func requireRestart(t *testing.T, m *memFolder, want []*Checkpoint, what ...any) {
	t.Helper()
	log := open(t, m.store())
	found := newest(t, log)
	require.Contains(t, want, found, what...)
	next := flights(9, full("count", "next", "9"))
	if found != nil && len(found.States) > 0 {
		next = flights(9, changes("count", "next", "9"))
	}
	save(t, log, next)
	require.Equal(t, Number(9), newest(t, log).Number, what...)
	for name := range m.live {
		require.NotContains(t, name, tempSuffix, what...)
	}
	require.Equal(t, Number(9), newest(t, open(t, m.after(losses(0)[1]).store())).Number, what...)
}

func TestCrashWhileLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	for k := range 5 {
		m, _ := scenario{saved: []*Checkpoint{flights(1, nil)}}.arrange(t)
		for _, n := range []Number{2, 3} {
			_, err := m.Create(storedName(n) + tempSuffix)
			require.NoError(t, err)
		}
		m.crashAt(k)
		_, err := m.store().Open(ctx, "flights")
		require.Equal(t, k < 3, err != nil, "two removals and a sync")
		for _, l := range losses(lossSeeds) {
			requireRestart(t, m.after(l), []*Checkpoint{flights(1, nil)})
		}
	}
}

func TestOneFailedOperationLeavesTheFormerCheckpointAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		if strings.Contains(s.name, "rewind") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m, log := s.arrange(t)
			require.NoError(t, s.act(log, m))
			all := len(m.ops)
			for k := range all {
				m, log := s.arrange(t)
				m.failOnce(k, errFull)
				err := s.act(log, m)
				if m.ops[k] == "remove" { // an old file stays a little longer
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, errFull)
				require.NotErrorIs(t, err, ErrUncertain)
				former := s.want[0]
				require.Equal(t, former, newest(t, log), "after a failed %s", m.ops[k])
				for _, l := range losses(lossSeeds) {
					requireRestart(t, m.after(l), []*Checkpoint{former}, "power lost after a failed %s", m.ops[k])
				}
				require.NoError(t, s.act(log, m), "repeated")
				require.Equal(t, s.want[len(s.want)-1], newest(t, log))
			}
		})
	}
}

// failOnce makes operation k fail.
func (m *memFolder) failOnce(k int, err error) {
	n := 0
	m.before = func(string, string) error {
		n++
		if n == k+1 {
			return err
		}
		return nil
	}
}

func TestFailedRewindCanBeRepeated(t *testing.T) {
	t.Parallel()
	for k := range 6 {
		m, log := scenario{saved: []*Checkpoint{flights(1, nil), flights(2, nil), flights(3, nil)}}.arrange(t)
		m.failOnce(k, syscall.EIO)
		err := log.Rewind(ctx, 0)
		require.ErrorIs(t, err, syscall.EIO)
		require.NoError(t, log.Rewind(ctx, 0))
		require.Nil(t, newest(t, log))
		require.Nil(t, newest(t, open(t, m.after(losses(0)[1]).store())))
	}
}

// crashFrom makes the first operation of that kind fail, and all after it.
func (m *memFolder) crashFrom(first string, err error) {
	gone := false
	m.before = func(op, _ string) error {
		gone = gone || op == first
		if gone {
			return err
		}
		return nil
	}
}

func TestSaveOfUnknownOutcomeClosesTheLog(t *testing.T) {
	t.Parallel()
	m, log := scenario{saved: []*Checkpoint{flights(1, nil)}}.arrange(t)
	m.crashFrom("sync folder", syscall.EIO)
	err := log.Save(ctx, flights(2, nil))
	require.ErrorIs(t, err, ErrUncertain)
	require.ErrorIs(t, err, syscall.EIO)
	m.before = nil
	require.ErrorIs(t, log.Save(ctx, flights(2, nil)), ErrUncertain)
	require.ErrorIs(t, log.Rewind(ctx, 0), ErrUncertain)
	_, err = log.Load(ctx, 0)
	require.ErrorIs(t, err, ErrUncertain)
	require.NoError(t, log.Close())
	for _, l := range losses(lossSeeds) {
		requireRestart(t, m.after(l), []*Checkpoint{flights(1, nil), flights(2, nil)})
	}
}

func TestWhatARestartFoundSurvivesTheNextLossOfPower(t *testing.T) {
	t.Parallel()
	m, log := scenario{saved: []*Checkpoint{flights(1, nil)}}.arrange(t)
	m.crashFrom("sync folder", errCrashed)
	require.Error(t, log.Save(ctx, flights(2, nil)))
	m.before = nil // the process was killed before its sync; the power is still on
	require.Equal(t, flights(2, nil), newest(t, open(t, m.store())))
	require.Equal(t, flights(2, nil), newest(t, open(t, m.after(losses(0)[1]).store())))
}

func TestShortWriteIsAFailure(t *testing.T) {
	t.Parallel()
	_, err := newEncoder().file(shortWriter{}, header{link: link{number: 1, base: 1}}, flights(1, nil))
	require.ErrorContains(t, err, "short write")
}

// shortWriter takes half of what it is given and does not say so.
type shortWriter struct{}

func (shortWriter) Write(b []byte) (int, error) { return len(b) / 2, nil }
