package dial

import (
	"fmt"
	"net"
	"strconv"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/client"
)

// Client makes a client of what a connection string says; [client.Client.Connect] dials and logs in. Options come behind
// those of the string, and win. Over HTTP that does not log in: [client.Client.SignIn] does, with the credentials of the string, whatever
// the transport is.
func Client(text string, options ...client.Option) (*client.Client, error) {
	config, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return config.Client(options...)
}

// Client makes a client, as [Client] does. Nodes that the server names are dialled as the configured one is.
func (c Config) Client(options ...client.Option) (*client.Client, error) {
	dialer, err := c.Dialer()
	if err != nil {
		return nil, err
	}
	return client.New(dialer, append(c.clientOptions(), options...)...)
}

// clientOptions are those that the config has a value for.
func (c Config) clientOptions() []client.Option {
	options := []client.Option{client.Nodes(c.node)}
	switch {
	case !c.Credentials.Token.Empty():
		options = append(options, client.Token(c.Credentials.Token.Reveal()))
	case c.Credentials.Username != "":
		options = append(options, client.Password(c.Credentials.Username, c.Credentials.Password.Reveal()))
	}
	if c.Heartbeat != 0 {
		options = append(options, client.Heartbeat(c.Heartbeat))
	}
	if c.Reconnect != (Reconnect{}) {
		r := c.Reconnect
		options = append(options, client.Reconnect(r.Retries, r.Interval, r.ReestablishAfter))
	}
	if c.Pending != (Pending{}) {
		options = append(options, client.Pending(c.Pending.Operations, c.Pending.Bytes))
	}
	return options
}

// node returns a dialer for another node of the cluster, by its host and port.
func (c Config) node(addr string) (transport.Dialer, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("iggy: address of a node: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("iggy: address of a node: %w", err)
	}
	c.Host, c.Port = host, uint16(number)
	return c.Dialer()
}
