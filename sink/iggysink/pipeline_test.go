package iggysink_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// pipelineTo returns a pipeline that writes numbers to s/t as JSON.
func pipelineTo(p *iggysink.Producer, n int, options ...runnel.StageOption) *runnel.Pipeline {
	job := runnel.New("job", runnel.MaxBatch(10), runnel.Checkpoint(checkpoint.Memory(), checkpoint.EveryRecords(50)))
	runnel.From(job, source.Slice(numbers(n))).To(iggysink.JSON[int](p), options...)
	return job
}

// A pipeline connects the client that it was given, and logs in over HTTP with the credentials of the connection string.
func TestIGG07PipelineLogsInByItself(t *testing.T) {
	overAll(t, func(t *testing.T, _ dial.Protocol, c *client.Client) {
		p := iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"))
		require.Equal(t, client.Disconnected, c.State())
		require.NoError(t, pipelineTo(p, 1000).Run(t.Context()))
		require.Equal(t, numbered(0, 1000), texts(t, c, 0))
		require.Equal(t, client.Authenticated, c.State(), "the client is the caller's")
		require.EqualValues(t, 1000, p.Stats().Confirmed)
	})
}

// A server that refuses three sends: the sink tries again with a pause between; when that is used up, the run fails or the records
// are dead letters.
func TestSNK07RefusedSendsAreTriedAgainAndNeverDropped(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, refuse int, options ...runnel.StageOption) (stored []string, p *iggysink.Producer, err error) {
		server := start(t)
		c := clientOf(t, server, dial.TCP)
		p = iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"))
		for i := range refuse {
			server.Faults().Refuse(wire.CmdSendMessages, 1+i, wire.CodeTopicFull)
		}
		err = pipelineTo(p, 10, options...).Run(t.Context())
		return texts(t, c, 0), p, err
	}
	t.Run("as many attempts as are needed", func(t *testing.T) {
		t.Parallel()
		stored, p, err := run(t, 3, runnel.Retry(4, 10*time.Millisecond))
		require.NoError(t, err)
		require.ElementsMatch(t, numbered(0, 10), stored)
		require.Positive(t, p.Stats().Failed)
	})
	t.Run("without attempts the run fails", func(t *testing.T) {
		t.Parallel()
		stored, _, err := run(t, 1)
		require.ErrorIs(t, err, wire.CodeTopicFull)
		require.Empty(t, stored)
	})
	t.Run("when attempts are used up the run fails", func(t *testing.T) {
		t.Parallel()
		_, _, err := run(t, 3, runnel.Retry(3, time.Millisecond))
		require.ErrorIs(t, err, wire.CodeTopicFull)
		require.ErrorContains(t, err, "after 3 attempts")
	})
	t.Run("or the records are dead letters", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		var dead []string
		letters := sink.Func(func(_ context.Context, f runnel.Failed) error {
			mu.Lock()
			defer mu.Unlock()
			dead = append(dead, strconv.Itoa(f.Value.(int)))
			return nil
		})
		stored, _, err := run(t, 1, runnel.DeadLetter(letters))
		require.NoError(t, err)
		require.NotEmpty(t, dead)
		require.ElementsMatch(t, numbered(0, 10), append(stored, dead...), "nothing is dropped")
	})
}

func TestAPipelineLosesAndRepeatsNothingWhenRepliesAreLost(t *testing.T) {
	t.Parallel()
	for name, protocol := range withSessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t)
			c := clientOf(t, server, protocol, client.Timeout(300*time.Millisecond),
				client.Reconnect(client.Unlimited, time.Millisecond, time.Hour))
			p := iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"), iggysink.Background(iggysink.BatchLength(20)))
			server.Faults().DropReply(wire.CmdSendMessages, 2)
			server.Faults().CloseAfter(wire.CmdSendMessages, 8)
			server.Faults().CloseBefore(wire.CmdSendMessages, 15)
			server.Faults().LeaveInDoubt(wire.CmdSendMessages, 20)
			require.NoError(t, pipelineTo(p, 1000).Run(t.Context()))
			require.Equal(t, numbered(0, 1000), texts(t, c, 0))
		})
	}
}

func TestKeysAndHeadersOfRecordsArriveWithThem(t *testing.T) {
	t.Parallel()
	c := clientOf(t, start(t), dial.TCP)
	p := iggysink.NewProducer(c, wire.Named("s"), wire.Named("t"), iggysink.Partitions(3), iggysink.KeysFromMetadata())
	w, err := iggysink.JSON[int](p).Open(t.Context(), runnel.SinkEnv{Log: slogNowhere()})
	require.NoError(t, err)
	var meta []runnel.Meta
	for i := range 30 {
		meta = append(meta, runnel.Meta{Key: []byte{byte(i), 'k'}, Headers: runnel.Headers{{Name: "n", Value: []byte{byte(i)}}}})
	}
	require.NoError(t, w.Write(t.Context(), runnel.NewBatch(numbers(30), meta)))
	require.NoError(t, w.Flush(t.Context()))
	require.NoError(t, w.Close(t.Context()))
	found := 0
	for partition := range uint32(3) {
		last := -1
		for _, m := range read(t, c, wire.Named("s"), partition) {
			var n int
			require.NoError(t, json.Unmarshal(m.Payload, &n))
			require.Equal(t, partition, wire.PartitionOfKey(meta[n].Key, 3))
			require.Greater(t, n, last, "the order in a partition is kept")
			headers, err := client.Headers(m)
			require.NoError(t, err)
			require.Equal(t, []wire.UserHeader{client.Header("n", wire.RawValue([]byte{byte(n)}))}, headers)
			last = n
			found++
		}
	}
	require.Equal(t, 30, found)
}
