package client

import (
	"context"
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// GetUser returns a user with the permissions. If there is none the error is [wire.CodeResourceNotFound]. It needs the right
// to read users, but for the user who is logged in.
func (c *Client) GetUser(ctx context.Context, user wire.Identifier) (wire.UserDetails, error) {
	const command = wire.CmdGetUser
	if err := check(command, checkID("user", user)); err != nil {
		return wire.UserDetails{}, err
	}
	return callOne[wire.UserDetails](ctx, c, command, &wire.GetUser{User: user}, wire.CodeResourceNotFound)
}

// GetUsers returns all users. It needs the right to read users.
func (c *Client) GetUsers(ctx context.Context) ([]wire.User, error) {
	r, err := call[wire.Users](ctx, c, wire.CmdGetUsers, nil)
	return r.Users, err
}

// CreateUser makes a user with a name of 3 to 50 bytes and a password of 3 to 100, and returns it. permissions are what the
// user may do, nil for nothing. If the name is taken the error is [wire.CodeUserAlreadyExists]. It needs the right to manage
// users.
func (c *Client) CreateUser(
	ctx context.Context, username, password string, status wire.UserStatus, permissions *wire.Permissions,
) (wire.UserDetails, error) {
	const command = wire.CmdCreateUser
	err := check(command, checkUsername(username), checkPassword("the password", password), checkStatus(status))
	if err != nil {
		return wire.UserDetails{}, err
	}
	return call[wire.UserDetails](ctx, c, command, &wire.CreateUser{
		Username: username, Password: password, Status: status, Permissions: permissions,
	})
}

// UserUpdate is what [Client.UpdateUser] changes: what is set.
type UserUpdate struct {
	// Username is the new name, 3 to 50 bytes; empty to leave it.
	Username string
	// Status says whether the user may log in from now on; 0 to leave it. One that may not any more is logged out.
	Status wire.UserStatus
}

// UpdateUser changes the name or the status of a user. If there is none the error is [wire.CodeResourceNotFound]; the root
// user is [wire.CodeCannotModifyRootUser]. It needs the right to manage users.
func (c *Client) UpdateUser(ctx context.Context, user wire.Identifier, update UserUpdate) error {
	body := &wire.UpdateResource{Scope: wire.ScopeUser, User: user}
	faults := []*fault{checkID("user", user)}
	if update.Status != 0 {
		faults = append(faults, checkStatus(update.Status))
		text := "active"
		if update.Status == wire.UserInactive {
			text = "inactive"
		}
		body.Set = append(body.Set, wire.Option{Key: wire.OptionStatus, Value: wire.StringValue(text)})
	}
	if update.Username != "" {
		faults = append(faults, checkUsername(update.Username))
		body.Set = append(body.Set, wire.Option{Key: wire.OptionUsername, Value: wire.StringValue(update.Username)})
	}
	return c.update(ctx, body, append(faults, checkUpdate(body))...)
}

// DeleteUser deletes a user, who is logged out. If there is none the error is [wire.CodeResourceNotFound]. It needs the right
// to manage users.
func (c *Client) DeleteUser(ctx context.Context, user wire.Identifier) error {
	return c.do(ctx, wire.CmdDeleteUser, &wire.DeleteUser{User: user}, checkID("user", user))
}

// UpdatePermissions sets what a user may do from now on, nil for nothing. If there is no such user the error is
// [wire.CodeResourceNotFound]. It needs the right to manage users.
func (c *Client) UpdatePermissions(ctx context.Context, user wire.Identifier, permissions *wire.Permissions) error {
	return c.do(ctx, wire.CmdUpdatePermissions, &wire.UpdatePermissions{User: user, Permissions: permissions},
		checkID("user", user))
}

// ChangePassword sets the password of a user, 3 to 100 bytes. If current is not the present one the error is
// [wire.CodeInvalidCredentials]. Every user may change their own; that of others needs the right to manage users.
//
// A client that is logged in as the user, and is told so by name, logs in with the new password from then on.
func (c *Client) ChangePassword(ctx context.Context, user wire.Identifier, current, password string) error {
	err := c.do(ctx, wire.CmdChangePassword, &wire.ChangePassword{User: user, Current: current, New: password},
		checkID("user", user), checkText(wire.CodeInvalidPassword, "the current password", current, 0, 255),
		checkPassword("the new password", password))
	if err == nil {
		c.adoptPassword(user.Name, current, password)
	}
	return err
}

// adoptPassword changes the password that the client logs in with, if it is that of the user.
func (c *Client) adoptPassword(username, current, password string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.credentials; k != nil && k.token == "" && k.username == username && k.password == current {
		c.credentials = &credentials{username: username, password: password}
	}
}

func checkUsername(name string) *fault {
	return checkText(wire.CodeInvalidUsername, "the username", name, 3, 50)
}

func checkPassword(what, password string) *fault {
	return checkText(wire.CodeInvalidPassword, what, password, 3, 100)
}

func checkStatus(status wire.UserStatus) *fault {
	if status == wire.UserActive || status == wire.UserInactive {
		return nil
	}
	return &fault{wire.CodeInvalidUserStatus, fmt.Sprintf("status %d, not 1 or 2", status)}
}
