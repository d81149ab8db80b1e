package wire

// UpdateResource is the request of update_resource: it sets and resets options, and leaves the others alone. (Iggy binary
// protocol, update resource.)
type UpdateResource struct {
	// Scope is what is updated, and says which of the following fields count.
	Scope Scope
	// Stream is the stream, or that of the topic.
	Stream Identifier
	// Topic is the topic.
	Topic Identifier
	// User is the user.
	User Identifier
	// Reset are the options that get back their default, at most 255. It names none twice and none that is set.
	Reset []string
	// Set are the options that get a value. There is at least one in Set or Reset.
	Set Options
}

func (v *UpdateResource) layout(c *coder) {
	kind(c, &v.Scope, ScopeUser, "scope")
	switch v.Scope {
	case ScopeTopic:
		c.topic(&v.Stream, &v.Topic)
	case ScopeStream:
		c.identifier(&v.Stream, "stream")
	case ScopeUser:
		c.identifier(&v.User, "user")
	}
	list8(c, &v.Reset, 2, "reset", func(key *string, c *coder) { c.name(key, "option key") })
	v.Set.layout(c)
	switch {
	case c.err != nil:
	case len(v.Reset) == 0 && len(v.Set) == 0:
		c.fail("options", ErrLength)
	case v.namesTwice():
		c.fail("reset", ErrDuplicate)
	}
}

func (v *UpdateResource) namesTwice() bool {
	seen := make(map[string]bool, len(v.Reset))
	for _, key := range v.Reset {
		if _, set := v.Set.Find(key); set || seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}
