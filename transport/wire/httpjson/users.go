package httpjson

// User is a user. (Iggy HTTP interface, users.)
type User struct {
	CreatedAt uint64            `json:"created_at"` // microseconds since 1970
	ID        uint32            `json:"id"`         // its number
	Options   map[string]Option `json:"options"`    // its settings
	Status    string            `json:"status"`     // active or inactive
	Username  string            `json:"username"`   // its name
}

// UserDetails is a user with what it may do.
type UserDetails struct {
	CreatedAt   uint64            `json:"created_at"`  // microseconds since 1970
	ID          uint32            `json:"id"`          // its number
	Options     map[string]Option `json:"options"`     // its settings
	Permissions *Permissions      `json:"permissions"` // what it may do; nil for nothing
	Status      string            `json:"status"`      // active or inactive
	Username    string            `json:"username"`    // its name
}

// CreateUser is the body of a request to create a user.
type CreateUser struct {
	Options     map[string]any `json:"options,omitempty"` // by their names: bool, whole number up to 2^53-1, or text
	Password    string         `json:"password"`          // 3 to 100 bytes
	Permissions *Permissions   `json:"permissions"`       // what it may do; nil for nothing
	Status      string         `json:"status"`            // active or inactive
	Username    string         `json:"username"`          // 3 to 50 bytes
}

// Permissions are what a user may do: see wire.Permissions.
type Permissions struct {
	Global  GlobalPermissions            `json:"global"`  // for everything
	Streams map[uint32]StreamPermissions `json:"streams"` // for single streams, by id; nil for none
}

// GlobalPermissions are permissions for a whole server: see wire.GlobalPermissions.
type GlobalPermissions struct {
	ManageServers bool `json:"manage_servers"` // change servers
	ManageStreams bool `json:"manage_streams"` // create, change and delete streams
	ManageTopics  bool `json:"manage_topics"`  // create, change and delete topics
	ManageUsers   bool `json:"manage_users"`   // create, change and delete users
	PollMessages  bool `json:"poll_messages"`  // read messages
	ReadServers   bool `json:"read_servers"`   // look at servers
	ReadStreams   bool `json:"read_streams"`   // look at streams
	ReadTopics    bool `json:"read_topics"`    // look at topics
	ReadUsers     bool `json:"read_users"`     // look at users
	SendMessages  bool `json:"send_messages"`  // send messages
}

// StreamPermissions are permissions for one stream.
type StreamPermissions struct {
	ManageStream bool                        `json:"manage_stream"` // change and delete it
	ManageTopics bool                        `json:"manage_topics"` // create, change and delete its topics
	PollMessages bool                        `json:"poll_messages"` // read messages of it
	ReadStream   bool                        `json:"read_stream"`   // look at it
	ReadTopics   bool                        `json:"read_topics"`   // look at its topics
	SendMessages bool                        `json:"send_messages"` // send messages to it
	Topics       map[uint32]TopicPermissions `json:"topics"`        // for single topics, by id; nil for none
}

// TopicPermissions are permissions for one topic.
type TopicPermissions struct {
	ManageTopic  bool `json:"manage_topic"`  // change and delete it
	PollMessages bool `json:"poll_messages"` // read messages of it
	ReadTopic    bool `json:"read_topic"`    // look at it
	SendMessages bool `json:"send_messages"` // send messages to it
}

// UpdatePermissions is the body of a request to change what a user may do.
type UpdatePermissions struct {
	Permissions *Permissions `json:"permissions"` // what it may do from now on; nil for nothing
}

// ChangePassword is the body of a request to change a password.
type ChangePassword struct {
	CurrentPassword string `json:"current_password"` // up to now
	NewPassword     string `json:"new_password"`     // from now on, 3 to 100 bytes
}

// Login is the body of a request to log in with a password.
type Login struct {
	Context  *string `json:"context"`  // a text for the logs of the server; nil for none
	Password string  `json:"password"` // of the user
	Username string  `json:"username"` // of the user
	Version  *string `json:"version"`  // of the client; nil for none
}

// LoginWithToken is the body of a request to log in with a personal access token, or to refresh an identity.
type LoginWithToken struct {
	Token string `json:"token"` // the token
}

// Identity is the reply to a login.
type Identity struct {
	AccessToken AccessToken `json:"access_token"` // what requests carry
	UserID      uint32      `json:"user_id"`      // the user
}

// AccessToken is what requests carry after a login.
type AccessToken struct {
	Expiry uint64 `json:"expiry"` // when it ends, in seconds since 1970
	Token  string `json:"token"`  // the token
}

// PersonalAccessToken is a token of a user, without what to log in with.
type PersonalAccessToken struct {
	ExpiryAt *uint64 `json:"expiry_at"` // microseconds since 1970; nil for never
	Name     string  `json:"name"`      // its name
}

// RawToken is the reply to a request to create a personal access token.
type RawToken struct {
	Token string `json:"token"` // what to log in with
}

// CreateToken is the body of a request to create a personal access token.
type CreateToken struct {
	Expiry uint64 `json:"expiry"` // for how long it can be used, in microseconds; wire.NeverExpires for ever
	Name   string `json:"name"`   // 3 to 30 bytes
}
