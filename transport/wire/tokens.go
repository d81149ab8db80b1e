package wire

// NeverExpires is the expiry of what stays for ever.
const NeverExpires = 1<<64 - 1

// CreatePersonalAccessToken is the request of create_personal_access_token. (Iggy binary protocol, users and access
// tokens.)
type CreatePersonalAccessToken struct {
	// Name is the name of the token, 1 to 255 bytes; a server wants 3 to 30.
	Name string
	// Expiry is for how long it can be used, in microseconds; [NeverExpires] for ever, 0 for what the server takes.
	Expiry uint64
}

func (v *CreatePersonalAccessToken) layout(c *coder) {
	c.name(&v.Name, "token name")
	c.u64(&v.Expiry, "expiry")
}

// DeletePersonalAccessToken is the request of delete_personal_access_token.
type DeletePersonalAccessToken struct {
	// Name is the name of the token.
	Name string
}

func (v *DeletePersonalAccessToken) layout(c *coder) { c.name(&v.Name, "token name") }

// RawToken is the reply to create_personal_access_token. The server does not tell it again.
type RawToken struct {
	// Token is what to log in with.
	Token string
}

func (v *RawToken) layout(c *coder) { c.name(&v.Token, "token") }

// PersonalAccessTokens is the reply to get_personal_access_tokens.
type PersonalAccessTokens struct {
	// Tokens are the tokens of the user.
	Tokens []PersonalAccessToken
}

// PersonalAccessToken is a token of a user, without what to log in with.
type PersonalAccessToken struct {
	// Name is its name.
	Name string
	// ExpiryAt is when it ends, in microseconds since 1970; 0 for never.
	ExpiryAt uint64
}

func (v *PersonalAccessTokens) layout(c *coder) {
	listToEnd(c, &v.Tokens, (*PersonalAccessToken).layout)
}

func (v *PersonalAccessToken) layout(c *coder) {
	c.name(&v.Name, "token name")
	c.u64(&v.ExpiryAt, "expiry at")
}
