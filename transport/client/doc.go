// Package client talks to an Apache Iggy server over whatever a [transport.Dialer] links it to.
//
//	c, err := client.New(tcp.NewDialer("127.0.0.1:8090"), client.Password("iggy", "iggy"))
//	if err != nil { … }
//	if err := c.Connect(ctx); err != nil { … }
//	defer c.Shutdown(ctx)
//
// A client has one session, which outlives its links: when a link is lost, another one is dialled and bound to the session,
// and what was not answered is asked again. Only when the server does not know the session any more the client logs in
// anew, and joins the groups it was in, before anything else is sent. A client may be used by many goroutines.
//
// # Outcomes of writes
//
// No write is done twice. One that was sent and got no answer is sent again as the very same frame, by which a server knows
// the repeat. If no answer comes before the time is up, the error has the code [wire.CodeOperationUncertain] and the number
// of the operation: it may have happened or not. What comes behind it in the same lane (all changes of metadata; the sends
// to one partition; the offsets stored for one) is refused with [wire.CodeLaneBlocked] until [Client.ResolveOperation]
// has found out, or [Client.AbandonOperation] has given up. Links without sessions, those over HTTP, know no repeat: there a
// write with an unknown outcome is an error with [wire.CodeTransientNotCommitted], and nothing is blocked.
//
// # Errors
//
// Every error of a call is an [*Error]. Its code is asked for with errors.Is(err, wire.CodeStreamNameAlreadyExists),
// and [Retryable] says whether the same call may be made again. Errors hold no payload and no secret.
//
// # Calls by subject
//
//   - Login and link: Connect, SignIn, Disconnect, Shutdown, Login, LoginWithToken, Logout, Ping
//   - Server: GetStats, GetMe, GetClient, GetClients, GetClusterMetadata, DescribeOptions, GetSnapshot
//   - Users: GetUser, GetUsers, CreateUser, UpdateUser, DeleteUser, UpdatePermissions, ChangePassword
//   - Access tokens: GetPersonalAccessTokens, CreatePersonalAccessToken, DeletePersonalAccessToken
//   - Streams: GetStream, GetStreams, CreateStream, UpdateStream, DeleteStream
//   - Topics: GetTopic, GetTopics, CreateTopic, UpdateTopic, DeleteTopic
//   - Partitions: CreatePartitions, DeletePartitions, DeleteSegments
//   - Groups: GetConsumerGroup, GetConsumerGroups, CreateConsumerGroup, DeleteConsumerGroup, JoinConsumerGroup,
//     LeaveConsumerGroup, SyncConsumerGroup
//   - Offsets: StoreOffset, DeleteOffset, GetOffset
//   - Messages: Send, SendBatch, SendPartitioned, Poll, Fetch, Messages, Open
//   - Writes with an uncertain outcome: ResolveOperation, AbandonOperation
//   - Anything else: SendBinaryRequest, SendBinaryRequestToReplica, SendHTTPRequest
//
// Replies are the types of package wire, as the server sent them: times are microseconds since 1970, sizes are bytes. Options
// of topics have a type of their own, [TopicOptions]. An argument that is not allowed is refused with [ErrArgument] before
// anything is sent. What is not there is an error that [NotFound] knows, but for an offset, which may well not be there.
//
// Over HTTP what is about a session is [wire.CodeFeatureUnavailable]: GetMe, and to join, leave and sync groups.
//
// # How typed calls are made
//
// A method for a command is call, callOne, callBytes or do with the type of the reply, the command and the body of the
// request:
//
//	func (c *Client) GetStats(ctx context.Context) (wire.Stats, error) {
//		return call[wire.Stats](ctx, c, wire.CmdGetStats, nil)
//	}
//
// They know from the command whether it is a read, which is asked anew after a loss, or a change of metadata, which goes
// through its lane. What is sent to a partition goes through Send, SendBatch, StoreOffset, DeleteOffset, GetOffset, Poll and
// Fetch: they find the route, fill in the context and take the lanes.
//
// # Where to look
//
// connect.go begins and ends, reconnect.go keeps a link, register.go and bind.go make a session and carry it over, login.go
// changes it; read.go and write.go carry requests, lane.go and uncertain.go keep writes in order, route.go finds partitions;
// nodes.go links to the other nodes of a cluster; send.go, offset.go, poll.go and fetch.go are the requests of partitions.
// system.go, users.go, tokens.go, streams.go, topics.go, partitions.go and consumergroups.go are the other calls, with
// arguments.go; raw.go and what begins so are raw requests.
package client
