package wire

// UserStatus says whether a user may log in. (Iggy binary protocol, users and access tokens.)
type UserStatus uint8

// What a user may be.
const (
	UserActive   UserStatus = 1
	UserInactive UserStatus = 2
)

// GetUser is the request of get_user.
type GetUser struct {
	// User is the user.
	User Identifier
}

func (v *GetUser) layout(c *coder) { c.identifier(&v.User, "user") }

// CreateUser is the request of create_user.
type CreateUser struct {
	// Username is the name, 1 to 255 bytes; a server wants 3 to 50.
	Username string
	// Password is the password, up to 255 bytes; a server wants 3 to 100.
	Password string
	// Status says whether the user may log in.
	Status UserStatus
	// Permissions are what the user may do; nil for none.
	Permissions *Permissions
	// Options are settings of the user.
	Options Options
}

func (v *CreateUser) layout(c *coder) {
	c.name(&v.Username, "username")
	c.text8(&v.Password, 0, "password")
	code(c, &v.Status, "status")
	c.optionalPermissions(&v.Permissions)
	v.Options.layout(c)
}

// DeleteUser is the request of delete_user.
type DeleteUser struct {
	// User is the user.
	User Identifier
}

func (v *DeleteUser) layout(c *coder) { c.identifier(&v.User, "user") }

// UpdatePermissions is the request of update_permissions.
type UpdatePermissions struct {
	// User is the user.
	User Identifier
	// Permissions are what the user may do from now on; nil for none.
	Permissions *Permissions
}

func (v *UpdatePermissions) layout(c *coder) {
	c.identifier(&v.User, "user")
	c.optionalPermissions(&v.Permissions)
}

// ChangePassword is the request of change_password.
type ChangePassword struct {
	// User is the user.
	User Identifier
	// Current is the password up to now, up to 255 bytes.
	Current string
	// New is the password from now on, up to 255 bytes; a server wants 3 to 100.
	New string
}

func (v *ChangePassword) layout(c *coder) {
	c.identifier(&v.User, "user")
	c.text8(&v.Current, 0, "current password")
	c.text8(&v.New, 0, "new password")
}

// User is a user.
type User struct {
	// ID is its number; 0 is the one that a server begins with.
	ID uint32
	// CreatedAt is when it was made, in microseconds since 1970.
	CreatedAt uint64
	// Status says whether it may log in.
	Status UserStatus
	// Username is its name.
	Username string
	// Explicit are settings that somebody made.
	Explicit Options
	// Derived are settings that the server made.
	Derived Options
}

func (v *User) layout(c *coder) {
	c.u32(&v.ID, "user id")
	c.u64(&v.CreatedAt, "created at")
	code(c, &v.Status, "status")
	c.name(&v.Username, "username")
	c.options(&v.Explicit, "explicit options")
	c.options(&v.Derived, "derived options")
}

// Users is the reply to get_users.
type Users struct {
	// Users are the users.
	Users []User
}

func (v *Users) layout(c *coder) { listToEnd(c, &v.Users, (*User).layout) }

// UserDetails is the reply to get_user and create_user.
type UserDetails struct {
	// User is the user.
	User User
	// Permissions are what it may do; nil for none.
	Permissions *Permissions
}

func (v *UserDetails) layout(c *coder) {
	v.User.layout(c)
	has := v.Permissions != nil
	c.bool(&has, "has permissions")
	if has && c.err == nil {
		if v.Permissions == nil {
			v.Permissions = new(Permissions)
		}
		c.permissions(v.Permissions)
		return
	}
	// Unlike in requests, none is four bytes here.
	var none [3]byte
	c.fixed(none[:], "no permissions")
	if none != [3]byte{} {
		c.fail("no permissions", ErrValue)
	}
}
