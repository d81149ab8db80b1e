package wire

import (
	"encoding/binary"
	"fmt"
)

// Eviction is the frame with which a server ends a connection. It is a header without a body. (Iggy binary protocol,
// eviction.)
type Eviction struct {
	// Client is the id of the client that is evicted.
	Client Uint128
	// Newest and Oldest are the versions that the server speaks, with [EvictIncompatibleProtocol]; 0 with others.
	Newest, Oldest Version
	// Reason says why.
	Reason EvictReason
}

// EvictReason says why a server ends a connection.
type EvictReason uint8

// The reasons.
const (
	EvictNoSession            EvictReason = 1
	EvictReleaseTooLow        EvictReason = 2
	EvictReleaseTooHigh       EvictReason = 3
	EvictInvalidOperation     EvictReason = 4
	EvictInvalidBody          EvictReason = 5
	EvictInvalidBodySize      EvictReason = 6
	EvictSessionTooLow        EvictReason = 7 // a newer one took its place
	EvictReleaseMismatch      EvictReason = 8
	EvictInvalidCredentials   EvictReason = 9
	EvictInvalidToken         EvictReason = 10
	EvictUserInactive         EvictReason = 11
	EvictSessionError         EvictReason = 12 // such as a client id of another user
	EvictStaleClient          EvictReason = 13 // no heartbeat; the session lives on and may be bound again
	EvictIncompatibleProtocol EvictReason = 14
	EvictMalformedLogin       EvictReason = 15
)

// evictions are the reasons with their names, and the code that a client reports for them.
var evictions = map[EvictReason]struct {
	name string
	code Code
}{
	EvictNoSession:            {"no session", CodeUnauthenticated},
	EvictReleaseTooLow:        {"client release too low", CodeInvalidCommand},
	EvictReleaseTooHigh:       {"client release too high", CodeInvalidCommand},
	EvictInvalidOperation:     {"invalid request operation", CodeInvalidCommand},
	EvictInvalidBody:          {"invalid request body", CodeInvalidCommand},
	EvictInvalidBodySize:      {"invalid size of request body", CodeInvalidCommand},
	EvictSessionTooLow:        {"session too low", CodeUnauthenticated},
	EvictReleaseMismatch:      {"session release mismatch", CodeUnauthenticated},
	EvictInvalidCredentials:   {"invalid credentials", CodeInvalidCredentials},
	EvictInvalidToken:         {"invalid token", CodeInvalidPersonalAccessToken},
	EvictUserInactive:         {"user inactive", CodeUnauthenticated},
	EvictSessionError:         {"session error", CodeUnauthenticated},
	EvictStaleClient:          {"stale client", CodeStaleClient},
	EvictIncompatibleProtocol: {"incompatible protocol", CodeIncompatibleProtocolVersion},
	EvictMalformedLogin:       {"malformed login", CodeInvalidFormat},
}

// String returns the reason in words, or its number.
func (r EvictReason) String() string {
	if known, ok := evictions[r]; ok {
		return known.name
	}
	return fmt.Sprintf("eviction %d", uint8(r))
}

// Code returns the code that a client reports: [CodeDisconnected] for a reason that is not known.
func (r EvictReason) Code() Code {
	if known, ok := evictions[r]; ok {
		return known.code
	}
	return CodeDisconnected
}

// AppendEviction appends the frame to dst and returns the longer slice.
func AppendEviction(dst []byte, e Eviction) []byte {
	dst, b := appendHeader(dst, FrameEviction)
	put128(b[128:], e.Client)
	binary.LittleEndian.PutUint32(b[144:], uint32(e.Newest))
	binary.LittleEndian.PutUint32(b[148:], uint32(e.Oldest))
	b[255] = byte(e.Reason)
	return dst
}

// DecodeEviction reads the frame.
func DecodeEviction(frame []byte) (Eviction, error) {
	b, err := headerOf(frame, FrameEviction)
	if err != nil {
		return Eviction{}, err
	}
	if body, err := bodyOf(frame); err != nil || len(body) > 0 {
		return Eviction{}, &FieldError{Field: "size", Offset: offSize, Err: ErrLength}
	}
	return Eviction{
		Client: uint128(b[128:]),
		Newest: Version(binary.LittleEndian.Uint32(b[144:])),
		Oldest: Version(binary.LittleEndian.Uint32(b[148:])),
		Reason: EvictReason(b[255]),
	}, nil
}
