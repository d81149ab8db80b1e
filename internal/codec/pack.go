package codec

import (
	"strings"
	"unsafe"
)

const (
	packBlock  = 4 << 10
	packLength = packBlock / 8 // of a string that is packed, at most: what the end of a block may waste
)

// packer copies strings into blocks that they share.
type packer struct{ free []byte }

func (p *packer) copy(s string) string {
	switch n := len(s); {
	case n == 0:
		return ""
	case n > packLength:
		return strings.Clone(s)
	case n > len(p.free):
		p.free = make([]byte, packBlock)
	}
	n := copy(p.free, s)
	packed := unsafe.String(&p.free[0], n)
	p.free = p.free[n:]
	return packed
}
