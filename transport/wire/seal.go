package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

// Sizes of what encryption of messages works with, in bytes. (Iggy binary protocol, client-side encryption.)
const (
	// KeySize is the size of a key.
	KeySize = 32
	// NonceSize is the size of what must never be used twice with a key; take it at random.
	NonceSize = 12
	// SealedExtra is by how much a sealed piece is longer.
	SealedExtra = NonceSize + 16
)

// Sealer encrypts payloads and encoded user headers, each as a piece of its own, with AES-256-GCM: nonce, ciphertext, tag.
// Headers that are not there are not encrypted. It holds no state besides the key, so that several goroutines may use it.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns the sealer for a key of [KeySize] bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != KeySize {
		return nil, &FieldError{Field: "encryption key", Err: ErrLength}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	return &Sealer{aead}, nil
}

// Seal appends the sealed piece to dst and returns the longer slice. dst and plain must not overlap.
func (s *Sealer) Seal(dst []byte, nonce [NonceSize]byte, plain []byte) []byte {
	return s.aead.Seal(append(dst, nonce[:]...), nonce[:], plain, nil)
}

// Open appends what was sealed to dst and returns the longer slice, or dst and an error that wraps [ErrDecrypt]. dst and
// sealed must not overlap.
func (s *Sealer) Open(dst, sealed []byte) ([]byte, error) {
	if len(sealed) < SealedExtra {
		return dst, &FieldError{Field: "sealed piece", Err: ErrDecrypt}
	}
	plain, err := s.aead.Open(dst, sealed[:NonceSize], sealed[NonceSize:], nil)
	if err != nil {
		return dst, &FieldError{Field: "sealed piece", Err: ErrDecrypt}
	}
	return plain, nil
}
