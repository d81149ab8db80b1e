package wire_test

import (
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// A client asks for a topic, and the server reads what it asks for.
func ExampleAppendRequest() {
	h := wire.NewRequest(wire.CmdCreateTopic)
	h.Client, h.Session, h.Request = wire.Uint128{Lo: 7}, 42, 1
	frame, err := wire.AppendRequest(nil, h, &wire.CreateTopic{
		Stream: wire.Named("flights"), PartitionsCount: 3, Name: "departures",
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	h, body, err := wire.DecodeRequest(frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	topic, err := wire.Decode[wire.CreateTopic](body)
	fmt.Println(h.Carries(), topic.Stream, topic.Name, topic.PartitionsCount, err)
	_, err = wire.Decode[wire.CreateTopic](body[:12])
	fmt.Println(err)
	// Output:
	// topic.create flights departures 3 <nil>
	// partitions count at byte 9: ends early
}

// A batch holds messages; reading it makes no copies.
func ExampleRecords() {
	batch, err := wire.AppendBatch(nil, nil, []wire.Message{
		{ID: wire.Uint128{Lo: 1}, OriginTimestamp: 1_700_000_000_000_000, Payload: []byte("late")},
		{ID: wire.Uint128{Lo: 2}, OriginTimestamp: 1_700_000_000_000_250, Payload: []byte("on time")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := wire.StampBatch(batch, 0, 40, 1_700_000_000_500_000); err != nil { // a server stores it
		fmt.Println(err)
		return
	}
	r := wire.NewRecords(batch)
	for r.Next() {
		m := r.Message()
		fmt.Println(m.Offset, string(m.Payload))
	}
	fmt.Println(r.Err())
	// Output:
	// 40 late
	// 41 on time
	// <nil>
}
