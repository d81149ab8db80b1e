package iggyserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/transport/iggyserver/internal/broker"
	"github.com/runnel-go/runnel/transport/iggyserver/internal/disk"
)

var (
	// ErrDataInUse is the cause when another process uses the folder of [Data].
	ErrDataInUse = disk.ErrInUse
	errFsync     = errors.New("FsyncEvery is below 1ms")
)

// Data keeps everything in a folder, which is made if it is not there: a restart goes on with streams, topics, messages,
// offsets, groups, users and tokens, and loses sessions, memberships and what is known of idempotent producers. The default
// is memory. In a folder that was in use [Username] and [Password] count no more: the root user is what it was.
//
// Nothing that was acknowledged is lost when the process is killed. [FsyncEvery] and [FsyncAlways] say what survives a loss
// of power; the default leaves that to the operating system, which may lose the last half minute or so, and may leave
// damage. The end of a file that was half written is cut off and told the [Logger]; damage anywhere else is an error of
// [Start] that names file and place, and the file is left as it is. One process uses the folder at a time: others get
// [ErrDataInUse]. Start reads and checks all messages.
func Data(dir string) Option { return option(func(c *config) { c.data = dir }) }

// FsyncEvery makes durable at intervals what [Data] keeps: a loss of power may take what was written since. The default is
// no interval; below a millisecond is an error.
func FsyncEvery(d time.Duration) Option {
	return option(func(c *config) { c.fsync, c.badFsync = disk.FsyncEvery(d), d < time.Millisecond })
}

// FsyncAlways makes each send and each change that [Data] keeps durable before it is acknowledged. The default is not to.
// Each waits for the disk; changes, offsets of consumers among them, wait one behind the other.
func FsyncAlways() Option {
	return option(func(c *config) { c.fsync, c.badFsync = disk.FsyncAlways, false })
}

// openBroker opens the folder, if there is to be one, and the broker on it. The function closes both.
func (c *config) openBroker() (b *broker.Broker, closeBoth func() error, err error) {
	config := c.broker()
	if c.data == "" {
		b, err = broker.New(config)
		if err != nil {
			return nil, nil, err
		}
		return b, b.Close, nil
	}
	store, err := disk.Open(c.data, disk.Options{Fsync: c.fsync, Logger: c.logger})
	if err != nil {
		return nil, nil, err
	}
	config.Store = store
	if b, err = broker.New(config); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return b, func() error { return errors.Join(b.Close(), store.Close()) }, nil
}

// unknownPassword stands in connection strings for a password that the server was not told.
const unknownPassword = "<password>"

// meetRoot looks at the root user of a folder that was in use, who counts: whether the default password would be served to
// other machines, and whether the options are those of this user.
func (c *config) meetRoot(b *broker.Broker) error {
	if c.data == "" {
		return nil
	}
	name, right := b.Root(c.password)
	if c.allowRemote {
		if _, everybodys := b.Root(DefaultPassword); everybodys {
			return fmt.Errorf("%w: that of user %s in %s, with ChangePassword and without AllowRemote", ErrDefaultPassword, name, c.data)
		}
	}
	if name == c.username && right {
		return nil
	}
	c.logger.Warn("Username and Password are not those of the root user in the folder, which counts", "folder", c.data, "user", name)
	c.username = name
	if !right {
		c.password = unknownPassword
	}
	return nil
}
