package iggy

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source/iggysource"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// The world of the tests: topic in has numbered messages, each partition those that leave its number as a remainder, and
// topic out gets them, each partition those of the same partition.
const (
	partitions = 4
	groupName  = "copy"
)

var stream, in, out = wire.Named("numbers"), wire.Named("in"), wire.Named("out")

// prepare makes the topics and sends numbers.
func prepare(t *testing.T, c *client.Client, count int) {
	t.Helper()
	_, err := c.CreateStream(t.Context(), stream.Name, client.StreamOptions{})
	require.NoError(t, err)
	for _, topic := range []wire.Identifier{in, out} {
		_, err := c.CreateTopic(t.Context(), stream, topic.Name, partitions, client.TopicOptions{})
		require.NoError(t, err)
	}
	for p := range partitions {
		var batch []wire.Message
		for n := p; n < count; n += partitions {
			batch = append(batch, wire.Message{Payload: binary.BigEndian.AppendUint64(nil, uint64(n))})
			if len(batch) == 1000 || n+partitions >= count {
				_, _, err := c.Send(t.Context(), client.Partition{Stream: stream, Topic: in, ID: uint32(p)}, nil, batch)
				require.NoError(t, err)
				batch = batch[:0]
			}
		}
	}
}

func decodeNumber(m iggysource.Message) (uint64, error) {
	if len(m.Payload) != 8 {
		return 0, fmt.Errorf("%d bytes, not 8", len(m.Payload))
	}
	return binary.BigEndian.Uint64(m.Payload), nil
}

// decodeSlowly takes a millisecond for twenty numbers, so that members have the time to come and go.
func decodeSlowly(m iggysource.Message) (uint64, error) {
	if m.Offset%20 == 0 {
		<-time.After(time.Millisecond)
	}
	return decodeNumber(m)
}

func encodeNumber(r runnel.Record[uint64]) (iggysink.Message, error) {
	return iggysink.Message{Payload: binary.BigEndian.AppendUint64(nil, r.Value)}, nil
}

// samePartition sends a number to the partition with the number that it has in the topic in. A request has one partition.
func samePartition(_, _ wire.Identifier, messages []wire.Message) (uint32, error) {
	return uint32(binary.BigEndian.Uint64(messages[0].Payload) % partitions), nil
}

// copyNumbers is a pipeline that copies as a member of the group.
func copyNumbers(c *client.Client, options ...runnel.Option) *runnel.Pipeline {
	return copyDecoded(c, decodeNumber, options...)
}

func copyDecoded(
	c *client.Client, decode func(iggysource.Message) (uint64, error), options ...runnel.Option,
) *runnel.Pipeline {
	from := iggysource.NewConsumer(c, groupName, stream, in, iggysource.Group(), iggysource.Start(iggysource.FromFirst()),
		iggysource.Count(500))
	to := iggysink.NewProducer(c, stream, out, iggysink.Partitioner(samePartition),
		iggysink.Background(iggysink.BatchBytes(8<<10))) // some 80 numbers, so that there are many requests
	p := runnel.New("copy", append(options, runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(20*time.Millisecond)))...)
	runnel.From(p, iggysource.Decode(from, decode)).To(iggysink.Encode(to, encodeNumber))
	return p
}

// next is where the group goes on in each partition: the offset behind that which is stored.
func next(ctx context.Context, c *client.Client) (at [partitions]uint64, err error) {
	reader := wire.Consumer{Kind: wire.ConsumerGroup, ID: wire.Named(groupName)}
	for p := range at {
		stored, found, err := c.GetOffset(ctx, reader, client.Partition{Stream: stream, Topic: in, ID: uint32(p)})
		if err != nil && !client.NotFound(err) {
			return at, err
		}
		if found {
			at[p] = stored.Stored + 1
		}
	}
	return at, nil
}

// total is how many numbers are behind these places.
func total(at [partitions]uint64) (sum int) {
	for _, n := range at {
		sum += int(n)
	}
	return sum
}

// copied returns what a partition of the topic out holds, as offsets in the topic in.
func copied(t *testing.T, c *client.Client, partition uint32) []uint64 {
	t.Helper()
	reader := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named("check")}
	of := client.Partition{Stream: stream, Topic: out, ID: partition}
	var got []uint64
	for {
		from := wire.PollingStrategy{Kind: wire.FromOffset, Value: uint64(len(got))}
		polled, err := c.Poll(t.Context(), reader, of, from, wire.PartitionContext{}, client.Read{Count: 10_000, MaxBytes: 4 << 20})
		require.NoError(t, err)
		if polled.Count == 0 {
			return got
		}
		for m, err := range c.Messages(polled.Records) {
			require.NoError(t, err)
			number := binary.BigEndian.Uint64(m.Payload)
			require.EqualValues(t, partition, number%partitions)
			got = append(got, number/partitions)
		}
	}
}

// requireCopied wants all numbers in their order. Where the copy goes back it has to be to one of the places that the
// group went on from; nil stands for any place.
func requireCopied(t *testing.T, c *client.Client, count int, places [][partitions]uint64) (repeated int) {
	t.Helper()
	for p := range uint32(partitions) {
		var starts []uint64
		for _, at := range places {
			starts = append(starts, at[p])
		}
		expect, highest := uint64(0), uint64(0)
		for i, got := range copied(t, c, p) {
			if got != expect {
				require.Less(t, got, highest, "partition %d: %d is missing, before message %d", p, highest, i)
				require.True(t, places == nil || slices.Contains(starts, got),
					"partition %d goes back to %d, which is no place that the group went on from: %v", p, got, starts)
			}
			if got < highest {
				repeated++
			}
			expect = got + 1
			highest = max(highest, expect)
		}
		require.EqualValues(t, (count-int(p)+partitions-1)/partitions, highest, "partition %d", p)
	}
	return repeated
}
