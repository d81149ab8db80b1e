package broker

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"fmt"
)

// passwordHash is a password that can be compared but not read: PBKDF2 with HMAC-SHA-512 and a salt of its own (RFC 8018).
type passwordHash struct {
	salt   [16]byte
	rounds int
	key    []byte
}

// hashPassword hashes a password with a new salt.
func hashPassword(password string, rounds int) (passwordHash, error) {
	h := passwordHash{rounds: rounds}
	_, _ = rand.Read(h.salt[:]) // never returns an error
	key, err := h.derive(password)
	if err != nil {
		return h, fmt.Errorf("hash of a password: %w", err)
	}
	h.key = key
	return h, nil
}

func (h *passwordHash) derive(password string) ([]byte, error) {
	return pbkdf2.Key(sha512.New, password, h.salt[:], h.rounds, sha512.Size)
}

// matches says whether it is the password. It takes the same time for every password.
func (h *passwordHash) matches(password string) bool {
	key, err := h.derive(password)
	return err == nil && subtle.ConstantTimeCompare(key, h.key) == 1
}
