package filesource

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/fileconn"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/sink"
)

func TestFIL06RunOfASourceThatFailsEndsWithTheError(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"f": "short\n" + strings.Repeat("x", 100) + "\nshort\n"})
	broken := faultfs.Inject(m, func(c faultfs.Call) error {
		if c.Op == faultfs.OpRead && c.Len > 1<<10 {
			return syscall.EIO
		}
		return nil
	})
	for _, c := range []struct {
		name string
		src  runnel.Source[string]
		err  error
		text string
	}{
		{"read error", Lines("f", on(broken)), syscall.EIO, "filesource: f: at byte 0: "},
		{"line too long", Lines("f", on(m), MaxLineBytes(10)), ErrTooLong, "at lines-source-1/f@6: filesource: line 2, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := runnel.New("job")
			runnel.From(p, c.src).To(sink.NewSlice[string]())
			err := p.Run(t.Context())
			require.ErrorIs(t, err, c.err)
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestBadLinesGoByTheErrorPolicy(t *testing.T) {
	t.Parallel()
	content := "1\nx\n" + strings.Repeat("9", 40) + "\n\x00\x00\n4\n"
	src := func() runnel.Source[int] {
		return NDJSON[int]("f", on(memWith(t, map[string]string{"f": content})), MaxLineBytes(30))
	}
	p := runnel.New("skip")
	good := sink.NewSlice[int]()
	runnel.From(p, src(), runnel.Skip(), runnel.Name("numbers")).To(good)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []int{1, 4}, good.Values())
	require.EqualValues(t, 3, p.Status().Sources[0].Skipped)
	require.EqualValues(t, 5, p.Status().Sources[0].Read)

	p = runnel.New("dead letters")
	good, dead := sink.NewSlice[int](), sink.NewSlice[runnel.Failed]()
	runnel.From(p, src(), runnel.DeadLetter(dead), runnel.Name("numbers")).To(good)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []int{1, 4}, good.Values())
	require.Len(t, dead.Values(), 3)
	letter, err := json.Marshal(dead.Values()[0])
	require.NoError(t, err)
	require.Contains(t, string(letter), `"source":"numbers","partition":"f","offset":2,"value":"x"`)
	for i, cause := range []error{nil, ErrTooLong, ErrNUL} {
		if cause != nil {
			require.ErrorIs(t, dead.Values()[i].Err, cause)
		}
	}
}

func TestFollowedLogIsReadOnAcrossRunsAndRotations(t *testing.T) {
	t.Parallel()
	m := memWith(t, map[string]string{"app.log": ""})
	store, all := runneltest.NewStore(), runneltest.NewProbe[string]()
	follow := func(grace time.Duration) *runneltest.Run {
		p := runnel.New("tail", runnel.Checkpoint(store, checkpoint.EveryRecords(50)), runnel.MaxBatch(20))
		log := Lines("app.log", on(m), Follow(), PollInterval(time.Millisecond), Grace(grace))
		runnel.From(p, log, runnel.Name("log")).To(all)
		return runneltest.Start(t, p)
	}
	for round := range 10 {
		run := follow(time.Minute) // which is never over
		for part := range 2 {
			from := 300*round + 150*part
			text, _ := numbered(from, from+150)
			add(t, m, "app.log", text)
			if round%3 == 1 {
				require.NoError(t, m.Rename("app.log", fmt.Sprintf("app.log.%d", from)))
				add(t, m, "app.log", "")
			}
			if round%3 == 2 || round == 0 { // without a position only the newest file is known
				all.Await(t, from+150)
			}
		}
		require.NoError(t, run.Stop())
	}
	run := follow(0)
	all.Await(t, 3000)
	require.NoError(t, run.Stop())
	_, want := numbered(0, 3000)
	runneltest.ExactlyOnce(t, want, all.Values())
}

func TestRealFlightsAreReadFromTheirArchive(t *testing.T) {
	t.Parallel()
	type flight struct {
		ID     int    `json:"id"`
		Origin string `json:"origin"`
	}
	const archive = "../../examples/internal/flightdata/sample.ndjson.gz"
	packed, err := os.ReadFile(archive)
	require.NoError(t, err)
	r := readAll(t, NDJSON[flight](archive), nil)
	require.Equal(t, 5002, len(r.values)+len(r.failed))
	for _, v := range r.values {
		require.Less(t, v.ID, 100_001)
	}
	require.Equal(t, fileconn.PackGzip, fileconn.DetectPacking(packed))
}
