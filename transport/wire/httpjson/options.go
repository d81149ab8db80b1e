package httpjson

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/runnel-go/runnel/transport/wire"
)

// errSetting is what is wrong with a setting in a request.
var errSetting = errors.New("neither true, false, a whole number up to 2^53-1 nor a text")

// maxExact is the largest whole number that every JSON reader keeps.
const maxExact = 1<<53 - 1

// numeric are the options whose values are numbers, with their kinds: JSON has one kind of number only.
var numeric = map[string]wire.Kind{
	wire.OptionMessageExpiry:     wire.KindUint64,
	wire.OptionMaxTopicSize:      wire.KindUint64,
	wire.OptionSegmentSize:       wire.KindUint64,
	wire.OptionBytesToSave:       wire.KindUint64,
	wire.OptionMessagesToSave:    wire.KindUint32,
	wire.OptionReplicationFactor: wire.KindUint32,
}

// OptionsOf returns settings as replies have them.
func OptionsOf(explicit, derived wire.Options) map[string]Option {
	all := make(map[string]Option, len(explicit)+len(derived))
	for _, o := range derived {
		all[o.Key] = Option{Kind: Kind(o.Value.Kind), Value: valueText(o.Value)}
	}
	for _, o := range explicit {
		all[o.Key] = Option{Explicit: true, Kind: Kind(o.Value.Kind), Value: valueText(o.Value)}
	}
	return all
}

// readOptions returns settings of a reply in the order of their keys.
func readOptions(all map[string]Option) (explicit, derived wire.Options, err error) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		o := all[key]
		v, err := parseValue(wire.Kind(o.Kind), o.Value)
		if err != nil {
			return nil, nil, fmt.Errorf("option %s: %w", key, err)
		}
		if o.Explicit {
			explicit = append(explicit, wire.Option{Key: key, Value: v})
		} else {
			derived = append(derived, wire.Option{Key: key, Value: v})
		}
	}
	return explicit, derived, nil
}

// SettingsOf returns settings as requests have them: by their names, as truth, whole number or text. No settings are nil.
func SettingsOf(options wire.Options) map[string]any {
	if len(options) == 0 {
		return nil
	}
	all := make(map[string]any, len(options))
	for _, o := range options {
		all[o.Key] = setting(o.Value)
	}
	return all
}

// setting returns a value as a request has it.
func setting(v wire.Value) any {
	if truth, ok := v.Bool(); ok {
		return truth
	}
	if n, ok := v.Uint(); ok && n <= maxExact {
		return n
	}
	return valueText(v)
}

// ReadSettings returns settings of a request in the order of their keys. Numbers get the kind that their option has; that
// of an option which is not known stays a text, which servers read.
func ReadSettings(all map[string]any) (wire.Options, error) {
	var options wire.Options
	for _, key := range slices.Sorted(maps.Keys(all)) {
		v, err := readSetting(key, all[key])
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", key, err)
		}
		options = append(options, wire.Option{Key: key, Value: v})
	}
	return options, nil
}

func readSetting(key string, value any) (wire.Value, error) {
	var text string
	switch v := value.(type) {
	case bool:
		return wire.BoolValue(v), nil
	case float64:
		if v != math.Trunc(v) || v < 0 || v > maxExact {
			return wire.Value{}, errSetting
		}
		text = strconv.FormatUint(uint64(v), 10)
	case json.Number:
		text = v.String()
	case string:
		text = v
	default:
		return wire.Value{}, errSetting
	}
	if kind, ok := numeric[key]; ok {
		if v, err := parseValue(kind, text); err == nil {
			return v, nil
		}
	}
	if text == "" {
		return wire.Value{}, errSetting
	}
	return wire.StringValue(text), nil
}

// valueText returns a value as a text: numbers in decimal, and in base64 what is no number, truth or text.
func valueText(v wire.Value) string {
	if text, ok := v.Text(); ok {
		return text
	}
	if truth, ok := v.Bool(); ok {
		return strconv.FormatBool(truth)
	}
	if n, ok := v.Uint(); ok {
		return strconv.FormatUint(n, 10)
	}
	if n, ok := v.Int(); ok {
		return strconv.FormatInt(n, 10)
	}
	if f, ok := v.Float(); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return base64.StdEncoding.EncodeToString(v.Data)
}

// parseValue reads what valueText has written.
func parseValue(kind wire.Kind, text string) (wire.Value, error) {
	switch kind {
	case wire.KindString:
		return wire.StringValue(text), nil
	case wire.KindBool:
		truth, err := strconv.ParseBool(text)
		return wire.BoolValue(truth), err
	case wire.KindUint8, wire.KindUint16, wire.KindUint32, wire.KindUint64:
		return parseUint(kind, text)
	case wire.KindInt8, wire.KindInt16, wire.KindInt32, wire.KindInt64:
		return parseInt(kind, text)
	case wire.KindFloat32, wire.KindFloat64:
		f, err := strconv.ParseFloat(text, 64)
		if kind == wire.KindFloat32 {
			return wire.Float32Value(float32(f)), err
		}
		return wire.Float64Value(f), err
	}
	data, err := base64.StdEncoding.DecodeString(text)
	return wire.Value{Kind: kind, Data: data}, err
}

func parseUint(kind wire.Kind, text string) (wire.Value, error) {
	n, err := strconv.ParseUint(text, 10, 8<<(kind-wire.KindUint8))
	switch kind {
	case wire.KindUint8:
		return wire.Uint8Value(uint8(n)), err
	case wire.KindUint16:
		return wire.Uint16Value(uint16(n)), err
	case wire.KindUint32:
		return wire.Uint32Value(uint32(n)), err
	}
	return wire.Uint64Value(n), err
}

func parseInt(kind wire.Kind, text string) (wire.Value, error) {
	n, err := strconv.ParseInt(text, 10, 8<<(kind-wire.KindInt8))
	switch kind {
	case wire.KindInt8:
		return wire.Int8Value(int8(n)), err
	case wire.KindInt16:
		return wire.Int16Value(int16(n)), err
	case wire.KindInt32:
		return wire.Int32Value(int32(n)), err
	}
	return wire.Int64Value(n), err
}
