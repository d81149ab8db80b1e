package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/disk"
	"github.com/runnel-go/runnel/transport/wire"
)

// failing is a store that can be told to refuse changes.
type failing struct {
	*disk.Store

	refuse bool
}

func (f *failing) Commit(changes ...broker.Change) error {
	if f.refuse {
		return errDisk
	}
	return f.Store.Commit(changes...)
}

func TestAChangeThatCannotBeStoredIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := filled(t, dir)
	s.stop(t)
	store, err := disk.Open(dir, disk.Options{})
	require.NoError(t, err)
	f := &failing{Store: store}
	b, err := broker.New(broker.Config{PasswordRounds: 1, Store: f})
	require.NoError(t, err)
	s = &server{b, store}
	defer s.stop(t)
	c := root(t, b)
	want := seen(t, c)
	carol := wire.Named("carol")
	changes := map[wire.Command]wire.Body{
		wire.CmdCreateStream:              &wire.CreateStream{Name: "new"},
		wire.CmdDeleteStream:              &wire.DeleteStream{Stream: orders},
		wire.CmdCreateTopic:               &wire.CreateTopic{Stream: orders, Name: "new", PartitionsCount: 1},
		wire.CmdDeleteTopic:               &wire.DeleteTopic{Stream: orders, Topic: events},
		wire.CmdCreatePartitions:          &wire.CreatePartitions{Stream: orders, Topic: events, Count: 1},
		wire.CmdDeletePartitions:          &wire.DeletePartitions{Stream: orders, Topic: events, Count: 1},
		wire.CmdCreateConsumerGroup:       &wire.CreateConsumerGroup{Stream: orders, Topic: events, Name: "new"},
		wire.CmdDeleteConsumerGroup:       &wire.DeleteConsumerGroup{GroupOf: workers},
		wire.CmdCreateUser:                &wire.CreateUser{Username: "dave", Password: "secret", Status: wire.UserActive},
		wire.CmdDeleteUser:                &wire.DeleteUser{User: carol},
		wire.CmdUpdatePermissions:         &wire.UpdatePermissions{User: carol},
		wire.CmdCreatePersonalAccessToken: &wire.CreatePersonalAccessToken{Name: "new"},
		wire.CmdUpdateResource: &wire.UpdateResource{Scope: wire.ScopeStream, Stream: orders, Set: wire.Options{
			{Key: wire.OptionName, Value: wire.StringValue("other")},
		}},
	}
	f.refuse = true
	for command, body := range changes {
		c.refused(wire.Code(10006), command, body)
	}
	code, _ := c.tryAt(c.at(0), wire.CmdStoreConsumerOffset, &wire.StoreConsumerOffset{
		Consumer: reader, Stream: orders, Topic: events, Partition: wire.Partition(0), Offset: 2,
	})
	require.Equal(t, wire.Code(10006), code)
	require.Error(t, b.Renew(orders, events, 0))
	f.refuse = false
	require.Equal(t, want, seen(t, c))
	for _, command := range []wire.Command{wire.CmdCreateStream, wire.CmdCreateTopic, wire.CmdCreateConsumerGroup} {
		c.ok(command, changes[command])
	}
}
