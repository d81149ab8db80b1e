package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Value is a value with its kind, as options and user headers have it. Values of kinds that are not known here keep
// their bytes. (Iggy binary protocol, options and user headers.)
type Value struct {
	// Kind says how to read Data.
	Kind Kind
	// Data are the bytes of the value, 1 to 255, numbers little endian.
	Data []byte
}

// Kind is a kind of value.
type Kind uint8

// The kinds of values. Those of numbers have the size of the number.
const (
	KindRaw     Kind = 1
	KindString  Kind = 2
	KindBool    Kind = 3
	KindInt8    Kind = 4
	KindInt16   Kind = 5
	KindInt32   Kind = 6
	KindInt64   Kind = 7
	KindInt128  Kind = 8
	KindUint8   Kind = 9
	KindUint16  Kind = 10
	KindUint32  Kind = 11
	KindUint64  Kind = 12
	KindUint128 Kind = 13
	KindFloat32 Kind = 14
	KindFloat64 Kind = 15
)

// kindSizes are the sizes of the kinds that have one, in bytes.
var kindSizes = [...]int{
	KindBool: 1, KindInt8: 1, KindInt16: 2, KindInt32: 4, KindInt64: 8, KindInt128: 16,
	KindUint8: 1, KindUint16: 2, KindUint32: 4, KindUint64: 8, KindUint128: 16, KindFloat32: 4, KindFloat64: 8,
}

// RawValue is a value of any bytes, 1 to 255 of them.
func RawValue(b []byte) Value { return Value{KindRaw, b} }

// StringValue is a text of 1 to 255 bytes.
func StringValue(s string) Value { return Value{KindString, []byte(s)} }

// BoolValue is true or false.
func BoolValue(v bool) Value {
	if v {
		return Value{KindBool, []byte{1}}
	}
	return Value{KindBool, []byte{0}}
}

// Int8Value is a signed number of 8 bits.
func Int8Value(v int8) Value { return Value{KindInt8, []byte{byte(v)}} }

// Int16Value is a signed number of 16 bits.
func Int16Value(v int16) Value {
	return Value{KindInt16, binary.LittleEndian.AppendUint16(nil, uint16(v))}
}

// Int32Value is a signed number of 32 bits.
func Int32Value(v int32) Value {
	return Value{KindInt32, binary.LittleEndian.AppendUint32(nil, uint32(v))}
}

// Int64Value is a signed number of 64 bits.
func Int64Value(v int64) Value {
	return Value{KindInt64, binary.LittleEndian.AppendUint64(nil, uint64(v))}
}

// Int128Value is a signed number of 128 bits, given as its two's complement.
func Int128Value(v Uint128) Value { return Value{KindInt128, v.append(nil)} }

// Uint8Value is a number of 8 bits.
func Uint8Value(v uint8) Value { return Value{KindUint8, []byte{v}} }

// Uint16Value is a number of 16 bits.
func Uint16Value(v uint16) Value {
	return Value{KindUint16, binary.LittleEndian.AppendUint16(nil, v)}
}

// Uint32Value is a number of 32 bits.
func Uint32Value(v uint32) Value {
	return Value{KindUint32, binary.LittleEndian.AppendUint32(nil, v)}
}

// Uint64Value is a number of 64 bits.
func Uint64Value(v uint64) Value {
	return Value{KindUint64, binary.LittleEndian.AppendUint64(nil, v)}
}

// Uint128Value is a number of 128 bits.
func Uint128Value(v Uint128) Value { return Value{KindUint128, v.append(nil)} }

// Float32Value is a floating point number of 32 bits.
func Float32Value(v float32) Value {
	return Value{KindFloat32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))}
}

// Float64Value is a floating point number of 64 bits.
func Float64Value(v float64) Value {
	return Value{KindFloat64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))}
}

// fits says whether the data has the size of the kind.
func (v Value) fits() bool { return int(v.Kind) < len(kindSizes) && len(v.Data) == kindSizes[v.Kind] }

// Text returns a text; ok is false for a value of another kind.
func (v Value) Text() (text string, ok bool) {
	if v.Kind != KindString {
		return "", false
	}
	return string(v.Data), true
}

// Bool returns true or false; ok is false for a value that is neither.
func (v Value) Bool() (value, ok bool) {
	if v.Kind != KindBool || !v.fits() || v.Data[0] > 1 {
		return false, false
	}
	return v.Data[0] == 1, true
}

// Uint returns an unsigned number of up to 64 bits; ok is false for any other value.
func (v Value) Uint() (n uint64, ok bool) {
	if v.Kind < KindUint8 || v.Kind > KindUint64 || !v.fits() {
		return 0, false
	}
	return v.bits(), true
}

// Int returns a signed number of up to 64 bits; ok is false for any other value.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind < KindInt8 || v.Kind > KindInt64 || !v.fits() {
		return 0, false
	}
	unused := 64 - 8*len(v.Data)
	return int64(v.bits()<<unused) >> unused, true
}

// Wide returns a number of 128 bits, a signed one as its two's complement; ok is false for any other value.
func (v Value) Wide() (n Uint128, ok bool) {
	if v.Kind != KindInt128 && v.Kind != KindUint128 || !v.fits() {
		return Uint128{}, false
	}
	return uint128(v.Data), true
}

// Float returns a floating point number; ok is false for any other value.
func (v Value) Float() (f float64, ok bool) {
	switch {
	case v.Kind == KindFloat32 && v.fits():
		return float64(math.Float32frombits(uint32(v.bits()))), true
	case v.Kind == KindFloat64 && v.fits():
		return math.Float64frombits(v.bits()), true
	}
	return 0, false
}

// bits returns up to eight bytes as a number.
func (v Value) bits() uint64 {
	var b [8]byte
	copy(b[:], v.Data)
	return binary.LittleEndian.Uint64(b[:])
}

// kindNames are the kinds with the names that JSON has for them.
var kindNames = map[Kind]string{
	KindRaw: "raw", KindString: "string", KindBool: "bool",
	KindInt8: "int8", KindInt16: "int16", KindInt32: "int32", KindInt64: "int64", KindInt128: "int128",
	KindUint8: "uint8", KindUint16: "uint16", KindUint32: "uint32", KindUint64: "uint64", KindUint128: "uint128",
	KindFloat32: "float32", KindFloat64: "float64",
}

// String returns the name of the kind, or its number.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// KindNamed returns the kind with a name; ok is false if there is none.
func KindNamed(name string) (k Kind, ok bool) {
	for k, n := range kindNames {
		if n == name {
			return k, true
		}
	}
	return 0, false
}
