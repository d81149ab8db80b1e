package httpjson

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// Names of what a user may be.
const (
	StatusActive   = "active"
	StatusInactive = "inactive"
)

// statusName returns the name of a status; that of one that is not known is a number.
func statusName(s wire.UserStatus) string {
	switch s {
	case wire.UserActive:
		return StatusActive
	case wire.UserInactive:
		return StatusInactive
	}
	return fmt.Sprintf("status %d", s)
}

func readStatus(name string) (wire.UserStatus, error) {
	switch name {
	case StatusActive:
		return wire.UserActive, nil
	case StatusInactive:
		return wire.UserInactive, nil
	}
	return 0, fmt.Errorf("status: %w", errName)
}

// UserOf returns a user as a list of users has it.
func UserOf(u wire.User) User {
	return User{
		CreatedAt: u.CreatedAt, ID: u.ID, Options: OptionsOf(u.Explicit, u.Derived), Status: statusName(u.Status),
		Username: u.Username,
	}
}

// Wire returns the user.
func (u *User) Wire() (wire.User, error) {
	status, err := readStatus(u.Status)
	if err != nil {
		return wire.User{}, err
	}
	explicit, derived, err := readOptions(u.Options)
	return wire.User{
		ID: u.ID, CreatedAt: u.CreatedAt, Status: status, Username: u.Username, Explicit: explicit, Derived: derived,
	}, err
}

// UserDetailsOf returns a user with what it may do.
func UserDetailsOf(d wire.UserDetails) UserDetails {
	u := UserOf(d.User)
	return UserDetails{
		CreatedAt: u.CreatedAt, ID: u.ID, Options: u.Options, Permissions: PermissionsOf(d.Permissions), Status: u.Status,
		Username: u.Username,
	}
}

// Wire returns the user with what it may do.
func (d *UserDetails) Wire() (wire.UserDetails, error) {
	u := User{CreatedAt: d.CreatedAt, ID: d.ID, Options: d.Options, Status: d.Status, Username: d.Username}
	user, err := u.Wire()
	return wire.UserDetails{User: user, Permissions: d.Permissions.Wire()}, err
}

// CreateUserOf returns the body of a request to create a user.
func CreateUserOf(c wire.CreateUser) CreateUser {
	return CreateUser{
		Options: SettingsOf(c.Options), Password: c.Password, Permissions: PermissionsOf(c.Permissions),
		Status: statusName(c.Status), Username: c.Username,
	}
}

// Wire returns the request.
func (c *CreateUser) Wire() (wire.CreateUser, error) {
	status, err := readStatus(c.Status)
	if err != nil {
		return wire.CreateUser{}, err
	}
	options, err := ReadSettings(c.Options)
	return wire.CreateUser{
		Username: c.Username, Password: c.Password, Status: status, Permissions: c.Permissions.Wire(), Options: options,
	}, err
}

// PermissionsOf returns what a user may do; nil for nil.
func PermissionsOf(p *wire.Permissions) *Permissions {
	if p == nil {
		return nil
	}
	all := &Permissions{Global: GlobalPermissions{
		ManageServers: p.Global.ManageServers, ManageStreams: p.Global.ManageStreams, ManageTopics: p.Global.ManageTopics,
		ManageUsers: p.Global.ManageUsers, PollMessages: p.Global.PollMessages, ReadServers: p.Global.ReadServers,
		ReadStreams: p.Global.ReadStreams, ReadTopics: p.Global.ReadTopics, ReadUsers: p.Global.ReadUsers,
		SendMessages: p.Global.SendMessages,
	}}
	if len(p.Streams) > 0 {
		all.Streams = make(map[uint32]StreamPermissions, len(p.Streams))
	}
	for _, s := range p.Streams {
		of := StreamPermissions{
			ManageStream: s.ManageStream, ManageTopics: s.ManageTopics, PollMessages: s.PollMessages, ReadStream: s.ReadStream,
			ReadTopics: s.ReadTopics, SendMessages: s.SendMessages,
		}
		if len(s.Topics) > 0 {
			of.Topics = make(map[uint32]TopicPermissions, len(s.Topics))
		}
		for _, t := range s.Topics {
			of.Topics[t.TopicID] = TopicPermissions{
				ManageTopic: t.ManageTopic, PollMessages: t.PollMessages, ReadTopic: t.ReadTopic, SendMessages: t.SendMessages,
			}
		}
		all.Streams[s.StreamID] = of
	}
	return all
}

// Wire returns what a user may do; nil for nil.
func (p *Permissions) Wire() *wire.Permissions {
	if p == nil {
		return nil
	}
	all := &wire.Permissions{Global: wire.GlobalPermissions{
		ManageServers: p.Global.ManageServers, ReadServers: p.Global.ReadServers, ManageUsers: p.Global.ManageUsers,
		ReadUsers: p.Global.ReadUsers, ManageStreams: p.Global.ManageStreams, ReadStreams: p.Global.ReadStreams,
		ManageTopics: p.Global.ManageTopics, ReadTopics: p.Global.ReadTopics, PollMessages: p.Global.PollMessages,
		SendMessages: p.Global.SendMessages,
	}}
	for _, id := range ascending(p.Streams) {
		s := p.Streams[id]
		of := wire.StreamPermissions{
			StreamID: id, ManageStream: s.ManageStream, ReadStream: s.ReadStream, ManageTopics: s.ManageTopics,
			ReadTopics: s.ReadTopics, PollMessages: s.PollMessages, SendMessages: s.SendMessages,
		}
		for _, id := range ascending(s.Topics) {
			t := s.Topics[id]
			of.Topics = append(of.Topics, wire.TopicPermissions{
				TopicID: id, ManageTopic: t.ManageTopic, ReadTopic: t.ReadTopic, PollMessages: t.PollMessages,
				SendMessages: t.SendMessages,
			})
		}
		all.Streams = append(all.Streams, of)
	}
	return all
}

// ascending returns the keys of a map in their order.
func ascending[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// TokenOf returns a personal access token.
func TokenOf(t wire.PersonalAccessToken) PersonalAccessToken {
	token := PersonalAccessToken{Name: t.Name}
	if t.ExpiryAt != 0 {
		token.ExpiryAt = &t.ExpiryAt
	}
	return token
}

// Wire returns the token.
func (t *PersonalAccessToken) Wire() (wire.PersonalAccessToken, error) {
	token := wire.PersonalAccessToken{Name: t.Name}
	if t.ExpiryAt != nil {
		token.ExpiryAt = *t.ExpiryAt
	}
	return token, nil
}
