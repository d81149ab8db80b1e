package iggyserver

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"

	"github.com/runnel-go/runnel/transport/dial"
)

// Reasons why [Start] refuses an address or a password.
var (
	// ErrRemote is the cause when other machines could reach an address, without [AllowRemote].
	ErrRemote = errors.New("other machines could reach this address, which has to be allowed")
	// ErrDefaultPassword is the cause when other machines may reach the server, with the password that everybody knows.
	ErrDefaultPassword = errors.New("the default password is for this machine only: choose another one")
)

// check fills in the defaults of the limits and returns all that is wrong.
func (c *config) check() error {
	var err error
	c.limits, err = c.limits.WithDefaults()
	faults := []error{err, c.checkCredentials()}
	for _, p := range c.at {
		if err := c.checkPlace(p); err != nil {
			faults = append(faults, &ListenError{Protocol: p.protocol, Err: err})
		}
	}
	if c.maxConnections < 1 || c.maxConnections > math.MaxInt32 {
		faults = append(faults, fmt.Errorf("MaxConnections is %d, not within 1 and %d", c.maxConnections, math.MaxInt32))
	}
	if c.heartbeat <= 0 {
		faults = append(faults, fmt.Errorf("Heartbeat is %v, not above 0", c.heartbeat))
	}
	if c.rejoinGrace <= 0 {
		faults = append(faults, fmt.Errorf("RejoinGrace is %v, not above 0", c.rejoinGrace))
	}
	if c.rounds < 1 {
		faults = append(faults, fmt.Errorf("PasswordRounds is %d, not above 0", c.rounds))
	}
	if c.badFsync {
		faults = append(faults, errFsync)
	}
	if c.logger == nil {
		faults = append(faults, errors.New("Logger is nil"))
	}
	return errors.Join(faults...)
}

// checkCredentials refuses what no connection string can hold, or no login. The error does not name them.
func (c *config) checkCredentials() error {
	if c.allowRemote && c.password == DefaultPassword {
		return ErrDefaultPassword
	}
	const most = 255 // of a name and a password in a login
	if len(c.username) > most || len(c.password) > most {
		return fmt.Errorf("credentials: neither Username nor Password is longer than %d bytes", most)
	}
	_, err := dial.Parse(connectionString(dial.TCP, c.username, c.password, "127.0.0.1:1"))
	return err
}

// checkPlace refuses an address that is none, or that others can reach.
func (c *config) checkPlace(p place) error {
	host, _, err := net.SplitHostPort(p.addr)
	switch {
	case err != nil:
		return err
	case c.allowRemote || isLoopback(host):
		return nil
	default:
		return fmt.Errorf("%s: %w", p.addr, ErrRemote)
	}
}

// isLoopback says whether only this machine can reach a host. An empty one stands for all addresses there are; of names,
// only that is taken whose meaning is fixed.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
