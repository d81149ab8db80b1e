package broker

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// rootID is the user that a server begins with.
const rootID = 0

// user is a user. Its fields are guarded by the broker's mu.
type user struct {
	id          uint32
	name        string
	createdAt   uint64
	status      wire.UserStatus
	password    passwordHash
	permissions *wire.Permissions
	tokens      map[string]*accessToken
}

func (u *user) label() (uint32, string) { return u.id, u.name }

func (u *user) header() wire.User {
	return wire.User{ID: u.id, CreatedAt: u.createdAt, Status: u.status, Username: u.name}
}

func (u *user) details() wire.Body {
	return &wire.UserDetails{User: u.header(), Permissions: u.permissions}
}

func getUser(r *request, arguments wire.GetUser) (wire.Body, wire.Code) {
	u, ok := r.broker.users.find(arguments.User)
	if u != r.session.user && !r.may(readUsers) {
		return nil, wire.CodeUnauthorized
	}
	if !ok {
		return nil, 0
	}
	return u.details(), 0
}

func getUsers(r *request, _ wire.Empty) (wire.Body, wire.Code) {
	if !r.may(readUsers) {
		return nil, wire.CodeUnauthorized
	}
	var users wire.Users
	for _, u := range r.broker.users.all() {
		users.Users = append(users.Users, u.header())
	}
	return &users, 0
}

// createUser hashes the password before it takes the lock.
func createUser(ctx context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.CreateUser](r.body)
	b := r.broker
	switch {
	case err != nil:
		return refused(wire.CodeInvalidCommand)
	case !r.mayNow(manageUsers):
		return refused(wire.CodeUnauthorized)
	}
	if code := checkUser(arguments); code != 0 {
		return r.commit(func() (wire.Body, wire.Code) { return nil, code })
	}
	hash, code := b.newPassword(ctx, arguments.Password)
	if code != 0 {
		return refused(code)
	}
	return r.commit(func() (wire.Body, wire.Code) {
		switch {
		case !r.may(manageUsers):
			return nil, wire.CodeUnauthorized
		case b.users.has(arguments.Username):
			return nil, wire.CodeUserAlreadyExists
		case b.users.len() >= b.config.Limits.Users:
			return nil, wire.CodeUsersLimitReached
		}
		u := &user{
			id: b.users.take(), name: arguments.Username, createdAt: b.now(), status: arguments.Status, password: hash,
			permissions: arguments.Permissions, tokens: map[string]*accessToken{},
		}
		if code := b.save(b.counters(), u.entry()); code != 0 {
			return nil, code
		}
		b.users.put(u)
		return u.details(), 0
	})
}

// checkUser wants lengths that the protocol allows, and a status that there is.
func checkUser(u wire.CreateUser) wire.Code {
	switch {
	case !lengthIn(u.Username, 3, 50):
		return wire.CodeInvalidUsername
	case !lengthIn(u.Password, 3, 100):
		return wire.CodeInvalidPassword
	case u.Status != wire.UserActive && u.Status != wire.UserInactive:
		return wire.CodeInvalidUserStatus
	case len(u.Options) > 0:
		return wire.CodeUnsupportedOptionKey // a new user has none
	}
	return 0
}

func lengthIn(s string, least, most int) bool { return len(s) >= least && len(s) <= most }

// newPassword hashes a password that is to be stored.
func (b *Broker) newPassword(ctx context.Context, password string) (hash passwordHash, code wire.Code) {
	var err error
	if !b.hash(ctx, func() { hash, err = hashPassword(password, b.config.PasswordRounds) }) {
		return hash, wire.CodeTransientNotAccepted // the connection is gone
	}
	if err != nil {
		return hash, wire.CodeInvalidPassword
	}
	return hash, 0
}

// deleteUser ends the sessions and tokens of the user, too.
func deleteUser(r *request, arguments wire.DeleteUser) (wire.Body, wire.Code) {
	b := r.broker
	u, ok := b.users.find(arguments.User)
	switch {
	case !r.may(manageUsers):
		return nil, wire.CodeUnauthorized
	case !ok:
		return nil, wire.CodeResourceNotFound
	case u.id == rootID:
		return nil, wire.CodeCannotDeleteUser
	}
	if code := b.save(Change{Key: userKey(u.id)}); code != 0 {
		return nil, code
	}
	b.users.remove(u)
	for _, t := range u.tokens {
		delete(b.tokens, t.hash)
	}
	b.expel(u, wire.EvictNoSession, r.session)
	return nil, 0
}

// expel ends the sessions of a user and their links. That of the request that made it so only loses its session, so that
// its reply can be sent.
func (b *Broker) expel(u *user, why wire.EvictReason, by *session) {
	for _, s := range b.sessions {
		switch {
		case s.user != u:
		case s == by:
			b.endSession(s)
		default:
			for _, l := range b.endSession(s) {
				l.evict(s.client, why)
			}
		}
	}
}

func updatePermissions(r *request, arguments wire.UpdatePermissions) (wire.Body, wire.Code) {
	u, ok := r.broker.users.find(arguments.User)
	switch {
	case !r.may(manageUsers):
		return nil, wire.CodeUnauthorized
	case !ok:
		return nil, wire.CodeResourceNotFound
	case u.id == rootID:
		return nil, codeCannotChangePermissions
	}
	next := *u
	next.permissions = arguments.Permissions
	if code := r.broker.save(next.entry()); code != 0 {
		return nil, code
	}
	u.permissions = next.permissions
	return nil, 0
}

// changePassword compares and hashes before it takes the lock. Who manages users needs the password up to now as well.
func changePassword(ctx context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.ChangePassword](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	b := r.broker
	if code := r.mayChangePassword(arguments.User); code != 0 {
		return refused(code)
	}
	code := wire.CodeInvalidPassword
	var hash passwordHash
	u, ok, done := b.checkPassword(ctx, arguments.User, arguments.Current)
	switch {
	case !done:
		return outcome{abandoned: true}
	case !ok:
		code = wire.CodeInvalidCredentials
	case lengthIn(arguments.New, 3, 100):
		hash, code = b.newPassword(ctx, arguments.New)
	}
	return r.commit(func() (wire.Body, wire.Code) {
		if code != 0 {
			return nil, code
		}
		if current, ok := b.users.find(wire.ID(u.id)); !ok || current != u {
			return nil, wire.CodeResourceNotFound // deleted meanwhile
		}
		next := *u
		next.password = hash
		if code := b.save(next.entry()); code != 0 {
			return nil, code
		}
		u.password = hash
		return nil, 0
	})
}

// mayChangePassword lets users change their own password, and those who manage users that of others.
func (r *request) mayChangePassword(of wire.Identifier) wire.Code {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	u, ok := b.users.find(of)
	switch {
	case u != r.session.user && !r.may(manageUsers):
		return wire.CodeUnauthorized
	case !ok:
		return wire.CodeResourceNotFound
	}
	return 0
}

// Root returns the name of the root user, and whether a password is that of it. To find out takes as long as a login.
func (b *Broker) Root(password string) (name string, right bool) {
	b.mu.Lock()
	root, _ := b.users.find(wire.ID(rootID)) // it cannot be deleted
	name, hash := root.name, root.password
	b.mu.Unlock()
	return name, hash.matches(password)
}
