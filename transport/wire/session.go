package wire

// SecretSize is the size of the secret that proves that a session is one's own.
const SecretSize = 32

// ClientInfo says what a client is. It begins each login, so that a server can refuse a version before it reads on. (Iggy
// binary protocol, login and bind.)
type ClientInfo struct {
	// Version is the version of the protocol that the client speaks.
	Version Version
	// SDKName is the name of the library, 1 to 255 bytes.
	SDKName string
	// SDKVersion is the version of the library, 1 to 255 bytes.
	SDKVersion string
}

func (v *ClientInfo) layout(c *coder) {
	word(c, &v.Version, "protocol version")
	c.name(&v.SDKName, "sdk name")
	c.name(&v.SDKVersion, "sdk version")
}

// DecodeClientInfo reads what a login or a bind begins with, whatever follows.
func DecodeClientInfo(body []byte) (ClientInfo, error) {
	var v ClientInfo
	c := coder{b: body}
	v.layout(&c)
	return v, c.err
}

// LoginRegister is the request of login_register: it begins a session with a password.
type LoginRegister struct {
	// Client says what the client is.
	Client ClientInfo
	// Secret is 32 random bytes, new for each session: [BindSession] repeats them.
	Secret [SecretSize]byte
	// Username is the name of the user, 1 to 255 bytes.
	Username string
	// Password is the password, up to 255 bytes.
	Password string
	// Context is a text for the logs of the server; empty for none.
	Context string
}

func (v *LoginRegister) layout(c *coder) {
	v.Client.layout(c)
	c.fixed(v.Secret[:], "secret")
	c.name(&v.Username, "username")
	c.text8(&v.Password, 0, "password")
	c.text32(&v.Context, "context")
}

// LoginRegisterWithToken is the request of login_register_with_pat: it begins a session with a personal access token.
type LoginRegisterWithToken struct {
	// Client says what the client is.
	Client ClientInfo
	// Secret is 32 random bytes, new for each session: [BindSession] repeats them.
	Secret [SecretSize]byte
	// Token is the token, 1 to 255 bytes.
	Token string
	// Context is a text for the logs of the server; empty for none.
	Context string
}

func (v *LoginRegisterWithToken) layout(c *coder) {
	v.Client.layout(c)
	c.fixed(v.Secret[:], "secret")
	c.name(&v.Token, "token")
	c.text32(&v.Context, "context")
}

// DecodeLogin reads the body of a request with the operation [OpRegister]. Nothing in the frame says which of the logins
// it is, but a body of one does not fit the other: the result that is not nil is the one. An error is that of the login
// with a password.
func DecodeLogin(body []byte) (*LoginRegister, *LoginRegisterWithToken, error) {
	password, err := Decode[LoginRegister](body)
	if err == nil {
		return &password, nil, nil
	}
	if token, err := Decode[LoginRegisterWithToken](body); err == nil {
		return nil, &token, nil
	}
	return nil, nil, err
}

// BindSession is the request of bind_session: it makes a session go on over another connection.
type BindSession struct {
	// Client says what the client is.
	Client ClientInfo
	// ClientID is the id of the client that began the session.
	ClientID Uint128
	// Session is its number; 0 if the reply to the login was lost.
	Session uint64
	// MetadataWatermark is the highest position in the log of the metadata that the client has seen.
	MetadataWatermark uint64
	// Secret is that of the login.
	Secret [SecretSize]byte
}

func (v *BindSession) layout(c *coder) {
	v.Client.layout(c)
	c.u128(&v.ClientID, "client id")
	c.u64(&v.Session, "session")
	c.u64(&v.MetadataWatermark, "metadata watermark")
	c.fixed(v.Secret[:], "secret")
}

// Registered is the reply to both logins, and to bind_session.
type Registered struct {
	// UserID is the user.
	UserID uint32
	// Session is the number of the session, never 0.
	Session uint64
	// Version is the version of the protocol that the server speaks.
	Version Version
	// ServerVersion is the version of the server, 1 to 255 bytes.
	ServerVersion string
}

func (v *Registered) layout(c *coder) {
	c.u32(&v.UserID, "user id")
	c.u64(&v.Session, "session")
	word(c, &v.Version, "protocol version")
	c.name(&v.ServerVersion, "server version")
}
