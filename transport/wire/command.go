package wire

import "fmt"

// Command is the code of a command. (Iggy binary protocol, commands.)
type Command uint32

// The commands. Behind each stands the body of its request and, with an arrow, the payload of its reply; "or none" is a
// payload without bytes, see [DecodeIfAny].
const (
	CmdPing                      Command = 1   // Empty → Empty
	CmdGetStats                  Command = 10  // Empty → Stats
	CmdGetSnapshot               Command = 11  // GetSnapshot → bytes
	CmdGetClusterMetadata        Command = 12  // Empty → ClusterMetadata
	CmdDescribeOptions           Command = 13  // DescribeOptions → OptionDescriptions
	CmdBindSession               Command = 15  // BindSession → Registered
	CmdUpdateResource            Command = 16  // UpdateResource → Empty
	CmdGetMetadataChanges        Command = 17  // GetMetadataChanges → bytes
	CmdGetMe                     Command = 20  // Empty → ClientDetails
	CmdGetClient                 Command = 21  // GetClient → ClientDetails, or none
	CmdGetClients                Command = 22  // Empty → Clients
	CmdGetUser                   Command = 31  // GetUser → UserDetails, or none
	CmdGetUsers                  Command = 32  // Empty → Users
	CmdCreateUser                Command = 33  // CreateUser → UserDetails
	CmdDeleteUser                Command = 34  // DeleteUser → Empty
	CmdUpdatePermissions         Command = 36  // UpdatePermissions → Empty
	CmdChangePassword            Command = 37  // ChangePassword → Empty
	CmdLegacyLogin               Command = 38  // of older clients; refused
	CmdLogout                    Command = 39  // Empty → Empty
	CmdLoginRegister             Command = 40  // LoginRegister → Registered
	CmdGetPersonalAccessTokens   Command = 41  // Empty → PersonalAccessTokens
	CmdCreatePersonalAccessToken Command = 42  // CreatePersonalAccessToken → RawToken
	CmdDeletePersonalAccessToken Command = 43  // DeletePersonalAccessToken → Empty
	CmdLegacyLoginWithToken      Command = 44  // of older clients; refused
	CmdLoginRegisterWithToken    Command = 45  // LoginRegisterWithToken → Registered
	CmdPollMessages              Command = 100 // PollMessages → PolledMessages
	CmdSendMessages              Command = 101 // SendMessages → SentMessages, or none
	CmdGetPartitionRoute         Command = 105 // GetPartitionRoute → PartitionRoute
	CmdPollMessagesDeferred      Command = 106 // PollMessagesDeferred → PolledMessages
	CmdCancelDeferred            Command = 108 // Empty → no reply
	CmdFetchMessages             Command = 109 // FetchMessages → FetchedMessages
	CmdGetConsumerOffset         Command = 120 // GetConsumerOffset → ConsumerOffset, or none
	CmdStoreConsumerOffset       Command = 121 // StoreConsumerOffset → Empty
	CmdDeleteConsumerOffset      Command = 122 // DeleteConsumerOffset → Empty
	CmdGetStream                 Command = 200 // GetStream → StreamDetails, or none
	CmdGetStreams                Command = 201 // Empty → Streams
	CmdCreateStream              Command = 202 // CreateStream → StreamDetails
	CmdDeleteStream              Command = 203 // DeleteStream → Empty
	CmdGetTopic                  Command = 300 // GetTopic → TopicDetails, or none
	CmdGetTopics                 Command = 301 // GetTopics → Topics
	CmdCreateTopic               Command = 302 // CreateTopic → TopicDetails
	CmdDeleteTopic               Command = 303 // DeleteTopic → Empty
	CmdCreatePartitions          Command = 402 // CreatePartitions → Empty
	CmdDeletePartitions          Command = 403 // DeletePartitions → Empty
	CmdDeleteSegments            Command = 503 // DeleteSegments → Empty
	CmdGetConsumerGroup          Command = 600 // GetConsumerGroup → GroupDetails, or none
	CmdGetConsumerGroups         Command = 601 // GetConsumerGroups → Groups
	CmdCreateConsumerGroup       Command = 602 // CreateConsumerGroup → GroupDetails
	CmdDeleteConsumerGroup       Command = 603 // DeleteConsumerGroup → Empty
	CmdJoinConsumerGroup         Command = 604 // JoinConsumerGroup → Empty
	CmdLeaveConsumerGroup        Command = 605 // LeaveConsumerGroup → Empty
	CmdSyncConsumerGroup         Command = 606 // SyncConsumerGroup → Assignment, or none
)

// commands are the commands with the names the protocol gives them and the operations that carry them.
var commands = map[Command]struct {
	name string
	op   Operation
}{
	CmdPing:                      {"ping", OpNonReplicated},
	CmdGetStats:                  {"stats", OpNonReplicated},
	CmdGetSnapshot:               {"snapshot", OpNonReplicated},
	CmdGetClusterMetadata:        {"cluster.metadata", OpNonReplicated},
	CmdDescribeOptions:           {"options.describe", OpNonReplicated},
	CmdBindSession:               {"session.bind", OpNonReplicated},
	CmdUpdateResource:            {"resource.update", OpUpdateResource},
	CmdGetMetadataChanges:        {"metadata.changes", OpNonReplicated},
	CmdGetMe:                     {"me", OpNonReplicated},
	CmdGetClient:                 {"client.get", OpNonReplicated},
	CmdGetClients:                {"client.list", OpNonReplicated},
	CmdGetUser:                   {"user.get", OpNonReplicated},
	CmdGetUsers:                  {"user.list", OpNonReplicated},
	CmdCreateUser:                {"user.create", OpCreateUser},
	CmdDeleteUser:                {"user.delete", OpDeleteUser},
	CmdUpdatePermissions:         {"user.permissions", OpUpdatePermissions},
	CmdChangePassword:            {"user.password", OpChangePassword},
	CmdLegacyLogin:               {"user.login", OpNonReplicated},
	CmdLogout:                    {"user.logout", OpLogout},
	CmdLoginRegister:             {"user.login_register", OpRegister},
	CmdGetPersonalAccessTokens:   {"personal_access_token.list", OpNonReplicated},
	CmdCreatePersonalAccessToken: {"personal_access_token.create", OpCreatePersonalAccessToken},
	CmdDeletePersonalAccessToken: {"personal_access_token.delete", OpDeletePersonalAccessToken},
	CmdLegacyLoginWithToken:      {"personal_access_token.login", OpNonReplicated},
	CmdLoginRegisterWithToken:    {"user.login_register_with_pat", OpRegister},
	CmdPollMessages:              {"message.poll", OpNonReplicated},
	CmdSendMessages:              {"message.send", OpSendMessages},
	CmdGetPartitionRoute:         {"partition.route", OpNonReplicated},
	CmdPollMessagesDeferred:      {"message.poll_deferred", OpNonReplicated},
	CmdCancelDeferred:            {"message.cancel_deferred", OpNonReplicated},
	CmdFetchMessages:             {"message.fetch", OpNonReplicated},
	CmdGetConsumerOffset:         {"consumer_offset.get", OpNonReplicated},
	CmdStoreConsumerOffset:       {"consumer_offset.store", OpStoreConsumerOffset},
	CmdDeleteConsumerOffset:      {"consumer_offset.delete", OpDeleteConsumerOffset},
	CmdGetStream:                 {"stream.get", OpNonReplicated},
	CmdGetStreams:                {"stream.list", OpNonReplicated},
	CmdCreateStream:              {"stream.create", OpCreateStream},
	CmdDeleteStream:              {"stream.delete", OpDeleteStream},
	CmdGetTopic:                  {"topic.get", OpNonReplicated},
	CmdGetTopics:                 {"topic.list", OpNonReplicated},
	CmdCreateTopic:               {"topic.create", OpCreateTopic},
	CmdDeleteTopic:               {"topic.delete", OpDeleteTopic},
	CmdCreatePartitions:          {"partition.create", OpCreatePartitions},
	CmdDeletePartitions:          {"partition.delete", OpDeletePartitions},
	CmdDeleteSegments:            {"segment.delete", OpDeleteSegments},
	CmdGetConsumerGroup:          {"consumer_group.get", OpNonReplicated},
	CmdGetConsumerGroups:         {"consumer_group.list", OpNonReplicated},
	CmdCreateConsumerGroup:       {"consumer_group.create", OpCreateConsumerGroup},
	CmdDeleteConsumerGroup:       {"consumer_group.delete", OpDeleteConsumerGroup},
	CmdJoinConsumerGroup:         {"consumer_group.join", OpJoinConsumerGroup},
	CmdLeaveConsumerGroup:        {"consumer_group.leave", OpLeaveConsumerGroup},
	CmdSyncConsumerGroup:         {"consumer_group.sync", OpNonReplicated},
}

// carriers are the operations that carry one command, which their requests do not name.
var carriers = map[Operation]Command{
	OpUpdateResource:            CmdUpdateResource,
	OpCreateUser:                CmdCreateUser,
	OpDeleteUser:                CmdDeleteUser,
	OpUpdatePermissions:         CmdUpdatePermissions,
	OpChangePassword:            CmdChangePassword,
	OpLogout:                    CmdLogout,
	OpRegister:                  CmdLoginRegister,
	OpCreatePersonalAccessToken: CmdCreatePersonalAccessToken,
	OpDeletePersonalAccessToken: CmdDeletePersonalAccessToken,
	OpSendMessages:              CmdSendMessages,
	OpStoreConsumerOffset:       CmdStoreConsumerOffset,
	OpDeleteConsumerOffset:      CmdDeleteConsumerOffset,
	OpCreateStream:              CmdCreateStream,
	OpDeleteStream:              CmdDeleteStream,
	OpCreateTopic:               CmdCreateTopic,
	OpDeleteTopic:               CmdDeleteTopic,
	OpCreatePartitions:          CmdCreatePartitions,
	OpDeletePartitions:          CmdDeletePartitions,
	OpDeleteSegments:            CmdDeleteSegments,
	OpCreateConsumerGroup:       CmdCreateConsumerGroup,
	OpDeleteConsumerGroup:       CmdDeleteConsumerGroup,
	OpJoinConsumerGroup:         CmdJoinConsumerGroup,
	OpLeaveConsumerGroup:        CmdLeaveConsumerGroup,
}

// String returns the name of the command, or its number.
func (c Command) String() string {
	if known, ok := commands[c]; ok {
		return known.name
	}
	return fmt.Sprintf("command %d", uint32(c))
}

// Operation returns the operation that carries the command: [OpNonReplicated] for one that is not known.
func (c Command) Operation() Operation {
	if known, ok := commands[c]; ok {
		return known.op
	}
	return OpNonReplicated
}
