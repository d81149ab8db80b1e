package rest

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

func snapshot(c *call, v *wire.GetSnapshot) {
	body := httpjson.SnapshotOf(*v)
	c.json(&body)
	take(c, "snapshot_types", v, body.Wire)
}

// take puts what was read into v.
func take[T any](c *call, field string, v *T, read func() (T, error)) {
	if c.writing || c.err != nil {
		return
	}
	got, err := read()
	if err != nil {
		c.fail(field, wire.CodeInvalidFormat, err)
	}
	*v = got
}

func scope(c *call, v *wire.DescribeOptions) {
	name := httpjson.ScopeName(v.Scope)
	c.segment(&name, "scope")
	take(c, "scope", &v.Scope, func() (wire.Scope, error) { return httpjson.ScopeNamed(name) })
}

func client(c *call, v *wire.GetClient) { c.segmentNumber(&v.ClientID, "client_id") }

func createUser(c *call, v *wire.CreateUser) {
	body := httpjson.CreateUserOf(*v)
	c.json(&body)
	take(c, "status", v, body.Wire)
}

func updatePermissions(c *call, v *wire.UpdatePermissions) {
	c.identifier(&v.User, "user_id")
	body := httpjson.UpdatePermissions{Permissions: httpjson.PermissionsOf(v.Permissions)}
	c.json(&body)
	v.Permissions = body.Permissions.Wire()
}

func changePassword(c *call, v *wire.ChangePassword) {
	c.identifier(&v.User, "user_id")
	body := httpjson.ChangePassword{CurrentPassword: v.Current, NewPassword: v.New}
	c.json(&body)
	v.Current, v.New = body.CurrentPassword, body.NewPassword
}

func createToken(c *call, v *wire.CreatePersonalAccessToken) {
	body := httpjson.CreateToken{Expiry: v.Expiry, Name: v.Name}
	c.json(&body)
	v.Expiry, v.Name = body.Expiry, body.Name
}

func createStream(c *call, v *wire.CreateStream) {
	body := httpjson.CreateStream{Name: v.Name, Options: httpjson.SettingsOf(v.Options)}
	c.json(&body)
	v.Name = body.Name
	c.settings(&v.Options, body.Options)
}

func createTopic(c *call, v *wire.CreateTopic) {
	c.stream(&v.Stream)
	body := httpjson.CreateTopic{Name: v.Name, Options: httpjson.SettingsOf(v.Options), PartitionsCount: v.PartitionsCount}
	c.json(&body)
	v.Name, v.PartitionsCount = body.Name, body.PartitionsCount
	c.settings(&v.Options, body.Options)
}

// settings puts options that were read in their place.
func (c *call) settings(options *wire.Options, read map[string]any) {
	take(c, "options", options, func() (wire.Options, error) { return httpjson.ReadSettings(read) })
}

func createPartitions(c *call, v *wire.CreatePartitions) {
	c.topic(&v.Stream, &v.Topic)
	body := httpjson.CreatePartitions{PartitionsCount: v.Count}
	c.json(&body)
	v.Count = body.PartitionsCount
}

func deletePartitions(c *call, v *wire.DeletePartitions) {
	c.topic(&v.Stream, &v.Topic)
	c.wanted("partitions_count", &v.Count)
}

func deleteSegments(c *call, v *wire.DeleteSegments) {
	c.topic(&v.Stream, &v.Topic)
	c.segmentNumber(&v.Partition, "partition_id")
	c.wanted("segments_count", &v.Count)
}

func groupOf(c *call, v *wire.GroupOf) {
	c.topic(&v.Stream, &v.Topic)
	c.identifier(&v.Group, "group_id")
}

func createGroup(c *call, v *wire.CreateConsumerGroup) {
	c.topic(&v.Stream, &v.Topic)
	body := httpjson.CreateGroup{Name: v.Name}
	c.json(&body)
	v.Name = body.Name
}

// keyReset is the key of an update that names options which get back their defaults. All others are options that get a
// value.
const keyReset = "reset"

// update makes the layout of an update of something: of each scope there is a row.
func update(scope wire.Scope) func(c *call, v *wire.UpdateResource) {
	return func(c *call, v *wire.UpdateResource) {
		if c.writing && v.Scope != scope {
			c.declined = true
			return
		}
		v.Scope = scope
		switch scope {
		case wire.ScopeTopic:
			c.topic(&v.Stream, &v.Topic)
		case wire.ScopeStream:
			c.stream(&v.Stream)
		case wire.ScopeUser:
			c.identifier(&v.User, "user_id")
		}
		c.changes(v)
	}
}

// changes is the body of an update.
func (c *call) changes(v *wire.UpdateResource) {
	if c.writing {
		body := map[string]any{}
		maps.Copy(body, httpjson.SettingsOf(v.Set))
		if _, taken := body[keyReset]; taken {
			c.fail(keyReset, wire.CodeUnsupportedOptionKey, errWord) // no option has that name
		}
		if len(v.Reset) > 0 {
			body[keyReset] = v.Reset
		}
		c.json(body)
		return
	}
	var body map[string]json.RawMessage
	c.json(&body)
	set := make(map[string]any, len(body))
	for _, key := range slices.Sorted(maps.Keys(body)) {
		var value any
		err := json.Unmarshal(body[key], &value)
		if key == keyReset {
			err = json.Unmarshal(body[key], &v.Reset)
		} else {
			set[key] = value
		}
		if err != nil {
			c.fail(key, wire.CodeInvalidFormat, errWord)
		}
	}
	c.settings(&v.Set, set)
}
