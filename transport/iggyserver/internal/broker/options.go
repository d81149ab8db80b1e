package broker

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// option is a setting that streams, topics or users have. (Iggy binary protocol, option catalogue.)
type option struct {
	key   string
	kind  wire.Kind
	unit  unit // how a value is written as text
	flags wire.OptionFlags
	value wire.Value // the default; none if it has no data
	text  string
	valid func(wire.Value) bool
}

const retained = wire.FlagUpdatable | wire.FlagResettable

// topicOptions are the settings of topics.
var topicOptions = []option{
	{key: wire.OptionName, kind: wire.KindString, flags: wire.FlagUpdatable, text: "Name"},
	{
		key: wire.OptionCompression, kind: wire.KindString, value: wire.StringValue("none"),
		text: "Compression algorithm (none, gzip)", valid: oneOf("none", "gzip"),
	},
	{
		key: wire.OptionMessageExpiry, kind: wire.KindUint64, unit: inMicros, flags: retained, value: wire.Uint64Value(wire.NeverExpires),
		text: "Message expiry in microseconds, or a duration (e.g. 7 days)",
	},
	{
		key: wire.OptionMaxTopicSize, kind: wire.KindUint64, unit: inBytes, flags: retained, value: wire.Uint64Value(wire.Unlimited),
		text: "Topic size cap in bytes, or a size (e.g. 1 GiB); at least the segment size",
	},
	{
		key: wire.OptionSegmentSize, kind: wire.KindUint64, unit: inBytes, value: wire.Uint64Value(1 << 30),
		text: "Segment size in bytes, or a size (e.g. 128 MiB); a multiple of 512, 1 MiB to 1 GiB",
		valid: func(v wire.Value) bool {
			n, _ := v.Uint()
			return n >= 1<<20 && n <= 1<<30 && n%512 == 0
		},
	},
	{
		key: wire.OptionDurability, kind: wire.KindString, value: wire.StringValue("replicated"),
		text: "When a send is done (replicated, persisted)", valid: oneOf("replicated", "persisted"),
	},
	{
		key: wire.OptionOffsetDurability, kind: wire.KindString, value: wire.StringValue("replicated"),
		text: "When the store of an offset is done (replicated, persisted)", valid: oneOf("replicated", "persisted"),
	},
	{
		key: wire.OptionResizePolicy, kind: wire.KindString, value: wire.StringValue("mutable"),
		text: "Whether partitions may be added and removed (mutable, fixed)", valid: oneOf("mutable", "fixed"),
	},
	{
		key: wire.OptionMessagesToSave, kind: wire.KindUint32, unit: inNumbers, value: wire.Uint32Value(1024),
		text: "Messages to gather before they are written, 1 to 16777216", valid: between(1, 16<<20),
	},
	{
		key: wire.OptionBytesToSave, kind: wire.KindUint64, unit: inBytes, value: wire.Uint64Value(1 << 20),
		text: "Bytes to gather before they are written, or a size; at most 1 GiB", valid: between(0, 1<<30),
	},
	{
		key: wire.OptionPreallocate, kind: wire.KindBool, unit: inTruth, value: wire.BoolValue(false),
		text: "Whether room for a segment is taken at once",
	},
	{
		key: wire.OptionReplicationFactor, kind: wire.KindUint32, unit: inNumbers, value: wire.Uint32Value(1),
		text: "Number of replicas, 1 to 32", valid: between(1, 32),
	},
	{key: "critical_keys", kind: wire.KindString, flags: wire.FlagReadOnly, text: "Options that a reader has to know"},
}

// streamOptions are the settings of streams. Streams are not encrypted here.
var streamOptions = []option{
	{key: wire.OptionName, kind: wire.KindString, flags: wire.FlagUpdatable, text: "Name"},
	{
		key: wire.OptionEncryptionKey, kind: wire.KindRaw, flags: wire.FlagSecret | wire.FlagCritical,
		text: "Key of 32 bytes; not available on this server",
	},
	{key: "encryption_key_wrapped", kind: wire.KindRaw, flags: wire.FlagReadOnly, text: "Internal"},
	{key: "encryption_key_source", kind: wire.KindString, flags: wire.FlagReadOnly, text: "Where the key is from"},
	{key: "encryption_key_fingerprint", kind: wire.KindString, flags: wire.FlagReadOnly, text: "Fingerprint of the key"},
	{key: "encryption_kek_fingerprint", kind: wire.KindString, flags: wire.FlagReadOnly, text: "Fingerprint of the key's key"},
	{key: "critical_keys", kind: wire.KindString, flags: wire.FlagReadOnly, text: "Options that a reader has to know"},
}

// userOptions are the settings of users.
var userOptions = []option{
	{key: wire.OptionUsername, kind: wire.KindString, flags: wire.FlagUpdatable, text: "Name"},
	{
		key: wire.OptionStatus, kind: wire.KindString, flags: wire.FlagUpdatable, value: wire.StringValue("active"),
		text: "Whether the user may log in (active, inactive)", valid: oneOf("active", "inactive"),
	},
	{key: "critical_keys", kind: wire.KindString, flags: wire.FlagReadOnly, text: "Options that a reader has to know"},
}

func oneOf(texts ...string) func(wire.Value) bool {
	return func(v wire.Value) bool { return slices.Contains(texts, string(v.Data)) }
}

func between(least, most uint64) func(wire.Value) bool {
	return func(v wire.Value) bool {
		n, ok := v.Uint()
		return ok && n >= least && n <= most
	}
}

// settings are the values that somebody has given to options, in their canonical kind.
type settings map[string]wire.Value

// optionNamed returns an option of a catalogue.
func optionNamed(catalogue []option, key string) (option, bool) {
	at := slices.IndexFunc(catalogue, func(o option) bool { return o.key == key })
	if at < 0 {
		return option{}, false
	}
	return catalogue[at], true
}

// created reads the options of a stream or topic that is to be made.
func created(catalogue []option, given wire.Options) (settings, wire.Code) {
	s := settings{}
	for _, g := range given {
		o, ok := optionNamed(catalogue, g.Key)
		switch {
		case !ok || o.key == wire.OptionName: // the name has its own place
			return nil, wire.CodeUnsupportedOptionKey
		case o.flags&wire.FlagReadOnly != 0:
			return nil, wire.CodeReadOnlyOption
		case o.flags&wire.FlagSecret != 0:
			return nil, wire.CodeStreamEncryptionUnavailable
		}
		v, ok := o.canonical(g.Value)
		if !ok {
			return nil, wire.CodeInvalidOptionValue
		}
		s[o.key] = v
	}
	return s, 0
}

// updated returns the settings after some were set and some reset. The settings it begins with stay as they are.
func updated(catalogue []option, from settings, set wire.Options, reset []string) (settings, wire.Code) {
	s := settings{}
	maps.Copy(s, from)
	for _, g := range set {
		o, code := changeable(catalogue, g.Key, wire.FlagUpdatable, wire.CodeOptionNotUpdatable)
		if code != 0 {
			return nil, code
		}
		v, ok := o.canonical(g.Value)
		if !ok {
			return nil, wire.CodeInvalidOptionValue
		}
		s[o.key] = v
	}
	for _, key := range reset {
		o, code := changeable(catalogue, key, wire.FlagResettable, wire.CodeOptionNotResettable)
		if code != 0 {
			return nil, code
		}
		delete(s, o.key)
	}
	return s, 0
}

// changeable returns an option that may be changed in a way.
func changeable(catalogue []option, key string, flag wire.OptionFlags, otherwise wire.Code) (option, wire.Code) {
	o, ok := optionNamed(catalogue, key)
	switch {
	case !ok:
		return o, wire.CodeUnsupportedOptionKey
	case o.flags&wire.FlagReadOnly != 0:
		return o, wire.CodeReadOnlyOption
	case o.flags&flag == 0:
		return o, otherwise
	}
	return o, 0
}

// number returns the value of an option, or its default.
func (s settings) number(catalogue []option, key string) uint64 {
	v, ok := s[key]
	if !ok {
		o, _ := optionNamed(catalogue, key)
		v = o.value
	}
	n, _ := v.Uint()
	return n
}

// lists returns the settings as replies have them: those somebody made, and the defaults of the others.
func (s settings) lists(catalogue []option) (explicit, derived wire.Options) {
	for _, o := range catalogue {
		if v, ok := s[o.key]; ok {
			explicit = append(explicit, wire.Option{Key: o.key, Value: v})
		} else if len(o.value.Data) > 0 {
			derived = append(derived, wire.Option{Key: o.key, Value: o.value})
		}
	}
	byKey := func(a, b wire.Option) int { return cmp.Compare(a.Key, b.Key) }
	slices.SortFunc(explicit, byKey)
	slices.SortFunc(derived, byKey)
	return explicit, derived
}

// checkTopic looks at what options of a topic say together.
func (s settings) checkTopic() wire.Code {
	size := s.number(topicOptions, wire.OptionMaxTopicSize)
	switch {
	case size != wire.ServerDefault && size < s.number(topicOptions, wire.OptionSegmentSize):
		return wire.CodeInvalidOptionValue
	case s.number(topicOptions, wire.OptionReplicationFactor) != 1:
		return codeInvalidReplicationFactor // there is one node
	}
	return 0
}

// canonical returns a value in the kind that the option has: it is that, or text that stands for it.
func (o *option) canonical(v wire.Value) (wire.Value, bool) {
	if v.Kind == wire.KindString && o.kind != wire.KindString {
		var ok bool
		if v, ok = o.parse(string(v.Data)); !ok {
			return v, false
		}
	}
	_, number := v.Uint()
	_, truth := v.Bool()
	switch {
	case v.Kind != o.kind:
		return v, false
	case o.kind != wire.KindString && !number && !truth:
		return v, false
	}
	return v, o.valid == nil || o.valid(v)
}

// parse reads a value that was written as text.
func (o *option) parse(text string) (wire.Value, bool) {
	if o.unit == inTruth {
		return wire.BoolValue(text == "true"), text == "true" || text == "false"
	}
	n, ok := o.unit.parse(text)
	if o.kind == wire.KindUint32 {
		return wire.Value{Kind: o.kind, Data: binary.LittleEndian.AppendUint32(nil, uint32(n))}, ok && n <= math.MaxUint32
	}
	return wire.Uint64Value(n), ok && o.kind == wire.KindUint64
}
