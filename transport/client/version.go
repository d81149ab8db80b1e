package client

import (
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// VersionError says that the client and the server speak no version of the protocol in common.
type VersionError struct {
	// Client is the version that was announced.
	Client wire.Version
	// Oldest and Newest are what the server speaks.
	Oldest, Newest wire.Version
}

// Error names the versions of both sides.
func (e *VersionError) Error() string {
	if e.Oldest == e.Newest {
		return fmt.Sprintf("the client speaks %v, the server %v", e.Client, e.Newest)
	}
	return fmt.Sprintf("the client speaks %v, the server %v to %v", e.Client, e.Oldest, e.Newest)
}

// versionRefused returns the window of a server that ended the link for the version, or nil.
func versionRefused(err error, announced wire.Version) *VersionError {
	var evicted *transport.EvictedError
	if !errors.As(err, &evicted) {
		return nil
	}
	e, err := wire.DecodeEviction(evicted.Frame)
	if err == nil && e.Reason == wire.EvictIncompatibleProtocol {
		return &VersionError{Client: announced, Oldest: e.Oldest, Newest: e.Newest}
	}
	return nil
}

// adopt picks the version to announce to an address from now on, and says whether it is another one than the server refused.
// All patches of 0.12 up to 0.12.2 are spoken.
func (c *Client) adopt(addr string, refused *VersionError) bool {
	v := min(refused.Newest, wire.Version0122)
	if v < wire.Version0120 || v < refused.Oldest || v == refused.Client {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.versions[addr] = v
	return true
}

// checkVersion refuses a server that took the login but speaks another line.
func checkVersion(announced wire.Version, r *wire.Registered) error {
	if r.Version.Major() == 0 && r.Version.Minor() == wire.Version0120.Minor() {
		return nil
	}
	return &VersionError{Client: announced, Oldest: r.Version, Newest: r.Version}
}
