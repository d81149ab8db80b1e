package wire_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
)

// decoder reads a body of one type, or a reply that may be none, and returns it for encoding again.
type decoder func(b []byte) (wire.Body, error)

func decoderOf[T any, P pointer[T]]() decoder {
	return func(b []byte) (wire.Body, error) {
		v, err := wire.Decode[T, P](b)
		return P(&v), err
	}
}

// commandBodies are the decoders of requests and of the payloads of their replies; nil for a reply that is opaque, or none.
type commandBodies struct{ request, reply decoder }

func bodiesByCommand() map[wire.Command]commandBodies {
	empty := decoderOf[wire.Empty]()
	topic, stream, group := decoderOf[wire.TopicDetails](), decoderOf[wire.StreamDetails](), decoderOf[wire.GroupDetails]()
	registered, client, polled := decoderOf[wire.Registered](), decoderOf[wire.ClientDetails](), decoderOf[wire.PolledMessages]()
	user := decoderOf[wire.UserDetails]()
	return map[wire.Command]commandBodies{
		wire.CmdPing:                      {empty, empty},
		wire.CmdGetStats:                  {empty, decoderOf[wire.Stats]()},
		wire.CmdGetSnapshot:               {decoderOf[wire.GetSnapshot](), nil},
		wire.CmdGetClusterMetadata:        {empty, decoderOf[wire.ClusterMetadata]()},
		wire.CmdDescribeOptions:           {decoderOf[wire.DescribeOptions](), decoderOf[wire.OptionDescriptions]()},
		wire.CmdBindSession:               {decoderOf[wire.BindSession](), registered},
		wire.CmdUpdateResource:            {decoderOf[wire.UpdateResource](), empty},
		wire.CmdGetMetadataChanges:        {decoderOf[wire.GetMetadataChanges](), nil},
		wire.CmdGetMe:                     {empty, client},
		wire.CmdGetClient:                 {decoderOf[wire.GetClient](), client},
		wire.CmdGetClients:                {empty, decoderOf[wire.Clients]()},
		wire.CmdGetUser:                   {decoderOf[wire.GetUser](), user},
		wire.CmdGetUsers:                  {empty, decoderOf[wire.Users]()},
		wire.CmdCreateUser:                {decoderOf[wire.CreateUser](), user},
		wire.CmdDeleteUser:                {decoderOf[wire.DeleteUser](), empty},
		wire.CmdUpdatePermissions:         {decoderOf[wire.UpdatePermissions](), empty},
		wire.CmdChangePassword:            {decoderOf[wire.ChangePassword](), empty},
		wire.CmdLogout:                    {empty, empty},
		wire.CmdLoginRegister:             {decoderOf[wire.LoginRegister](), registered},
		wire.CmdLoginRegisterWithToken:    {decoderOf[wire.LoginRegisterWithToken](), registered},
		wire.CmdGetPersonalAccessTokens:   {empty, decoderOf[wire.PersonalAccessTokens]()},
		wire.CmdCreatePersonalAccessToken: {decoderOf[wire.CreatePersonalAccessToken](), decoderOf[wire.RawToken]()},
		wire.CmdDeletePersonalAccessToken: {decoderOf[wire.DeletePersonalAccessToken](), empty},
		wire.CmdPollMessages:              {decoderOf[wire.PollMessages](), polled},
		wire.CmdSendMessages:              {decoderOf[wire.SendMessages](), decoderOf[wire.SentMessages]()},
		wire.CmdGetPartitionRoute:         {decoderOf[wire.GetPartitionRoute](), decoderOf[wire.PartitionRoute]()},
		wire.CmdPollMessagesDeferred:      {decoderOf[wire.PollMessagesDeferred](), polled},
		wire.CmdCancelDeferred:            {empty, nil},
		wire.CmdFetchMessages:             {decoderOf[wire.FetchMessages](), decoderOf[wire.FetchedMessages]()},
		wire.CmdGetConsumerOffset:         {decoderOf[wire.GetConsumerOffset](), decoderOf[wire.ConsumerOffset]()},
		wire.CmdStoreConsumerOffset:       {decoderOf[wire.StoreConsumerOffset](), empty},
		wire.CmdDeleteConsumerOffset:      {decoderOf[wire.DeleteConsumerOffset](), empty},
		wire.CmdGetStream:                 {decoderOf[wire.GetStream](), stream},
		wire.CmdGetStreams:                {empty, decoderOf[wire.Streams]()},
		wire.CmdCreateStream:              {decoderOf[wire.CreateStream](), stream},
		wire.CmdDeleteStream:              {decoderOf[wire.DeleteStream](), empty},
		wire.CmdGetTopic:                  {decoderOf[wire.GetTopic](), topic},
		wire.CmdGetTopics:                 {decoderOf[wire.GetTopics](), decoderOf[wire.Topics]()},
		wire.CmdCreateTopic:               {decoderOf[wire.CreateTopic](), topic},
		wire.CmdDeleteTopic:               {decoderOf[wire.DeleteTopic](), empty},
		wire.CmdCreatePartitions:          {decoderOf[wire.CreatePartitions](), empty},
		wire.CmdDeletePartitions:          {decoderOf[wire.DeletePartitions](), empty},
		wire.CmdDeleteSegments:            {decoderOf[wire.DeleteSegments](), empty},
		wire.CmdGetConsumerGroup:          {decoderOf[wire.GetConsumerGroup](), group},
		wire.CmdGetConsumerGroups:         {decoderOf[wire.GetConsumerGroups](), decoderOf[wire.Groups]()},
		wire.CmdCreateConsumerGroup:       {decoderOf[wire.CreateConsumerGroup](), group},
		wire.CmdDeleteConsumerGroup:       {decoderOf[wire.DeleteConsumerGroup](), empty},
		wire.CmdJoinConsumerGroup:         {decoderOf[wire.JoinConsumerGroup](), empty},
		wire.CmdLeaveConsumerGroup:        {decoderOf[wire.LeaveConsumerGroup](), empty},
		wire.CmdSyncConsumerGroup:         {decoderOf[wire.SyncConsumerGroup](), decoderOf[wire.Assignment]()},
	}
}

func TestEveryCommandOfTheVectorsHasBodies(t *testing.T) {
	t.Parallel()
	bodies := bodiesByCommand()
	refused := []wire.Command{wire.CmdLegacyLogin, wire.CmdLegacyLoginWithToken}
	for _, v := range loadVectors(t) {
		if v.Kind != "primitive" || v.Fields["operation_name"] == nil {
			continue
		}
		c := wire.Command(v.number(t, "code"))
		_, known := bodies[c]
		require.Equal(t, !slices.Contains(refused, c), known, c)
	}
}

// TestSeveralGoroutinesMayEncodeOneBody finds a layout that writes to its fields if it runs under the race detector.
func TestSeveralGoroutinesMayEncodeOneBody(t *testing.T) {
	t.Parallel()
	for _, bodies := range []map[string]body{requestBodies(), replyBodies()} {
		for name, b := range bodies {
			var encoded [2][]byte
			var errs [2]error
			var both sync.WaitGroup
			for i := range encoded {
				both.Go(func() { encoded[i], errs[i] = wire.Append(nil, b.Body) })
			}
			both.Wait()
			require.Equal(t, [2]error{}, errs, name)
			require.Equal(t, encoded[0], encoded[1], name)
		}
	}
}
