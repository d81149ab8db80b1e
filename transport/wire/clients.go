package wire

// GetClient is the request of get_client. (Iggy binary protocol, system commands.)
type GetClient struct {
	// ClientID is the number of the connection.
	ClientID uint32
}

func (v *GetClient) layout(c *coder) { c.u32(&v.ClientID, "client id") }

// Client is a connection to the server. Its id is a number of the server's own, not that of the session.
type Client struct {
	// ID is the number of the connection.
	ID uint32
	// UserID is the user.
	UserID uint32
	// Transport is how it is connected.
	Transport Transport
	// Address is the address it comes from, with its port.
	Address string
	// GroupsCount is the number of groups it is a member of.
	GroupsCount uint32
}

// Transport is how a client is connected.
type Transport uint8

// The transports.
const (
	TransportTCP       Transport = 1
	TransportQUIC      Transport = 2
	TransportHTTP      Transport = 3
	TransportWebSocket Transport = 4
)

func (v *Client) layout(c *coder) {
	c.u32(&v.ID, "client id")
	c.u32(&v.UserID, "user id")
	code(c, &v.Transport, "transport")
	c.text32(&v.Address, "address")
	c.u32(&v.GroupsCount, "groups count")
}

// Clients is the reply to get_clients.
type Clients struct {
	// Clients are the connections.
	Clients []Client
}

func (v *Clients) layout(c *coder) { listToEnd(c, &v.Clients, (*Client).layout) }

// ClientDetails is the reply to get_me and get_client.
type ClientDetails struct {
	// Client is the connection, with the number of the groups.
	Client Client
	// Groups are the groups that it is a member of.
	Groups []ClientGroup
}

// ClientGroup is a group that a client is a member of.
type ClientGroup struct {
	// StreamID is the stream of the topic.
	StreamID uint32
	// TopicID is the topic of the group.
	TopicID uint32
	// GroupID is the group.
	GroupID uint32
}

func (v *ClientDetails) layout(c *coder) {
	v.Client.layout(c)
	list(c, v.Client.GroupsCount, &v.Groups, 12, "groups", (*ClientGroup).layout)
}

func (v *ClientGroup) layout(c *coder) {
	c.u32(&v.StreamID, "stream id")
	c.u32(&v.TopicID, "topic id")
	c.u32(&v.GroupID, "group id")
}
