package filesource

// EventKind says what happened to a file.
type EventKind string

// What [OnEvent] is told.
const (
	// EventRotated: the file was renamed away or removed, and will be let go after [Grace].
	EventRotated EventKind = "rotated"
	// EventTruncated: the file was cut or replaced in place, and is read from its start.
	EventTruncated EventKind = "truncated"
	// EventClosed: a file that was rotated was read to its end and let go.
	EventClosed EventKind = "closed"
	// EventLost: the file was gone, or cut, before what was in it was read.
	EventLost EventKind = "lost"
)

// Event is something that happened to a file that is read.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Path is the file, by the name it was found under first.
	Path string
	// Offset is up to where it was read.
	Offset int64
	// Size is its size when it was last seen, in bytes.
	Size int64
}
