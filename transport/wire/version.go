package wire

import "fmt"

// Version is a version of the protocol, packed into a number that grows with it: ten bits each for minor and patch, the
// rest for major. (Iggy binary protocol, version gate.)
type Version uint32

// Versions that a client may announce.
const (
	// Version0120 is that of the 0.12 line: servers of this line take any patch of it.
	Version0120 Version = 12 << 10
	// Version0122 is that of development builds which take nothing else.
	Version0122 Version = 12<<10 | 2
)

// MakeVersion packs a version. Each part is below 1024.
func MakeVersion(major, minor, patch uint16) Version {
	return Version(major)<<20 | Version(minor&0x3ff)<<10 | Version(patch&0x3ff)
}

// Major returns the first part.
func (v Version) Major() int { return int(v >> 20) }

// Minor returns the second part.
func (v Version) Minor() int { return int(v >> 10 & 0x3ff) }

// Patch returns the third part.
func (v Version) Patch() int { return int(v & 0x3ff) }

// String returns the version as people write it: 0.12.2.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch()) }
