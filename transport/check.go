package transport

import "fmt"

// CheckRequest returns an error if a client may not send the frame: it is no request, longer than
// [Limits.MaxRequestBytes], or not as long as its header says.
func CheckRequest(frame Frame, limits Limits) error {
	if err := frame.Check(limits.MaxRequestBytes); err != nil {
		return NameLimit(err, "MaxRequestBytes")
	}
	return wantCommand(frame, CommandRequest)
}

// CheckAnswer returns an error if a server may not send the frame: it is neither a reply nor an eviction, longer than
// [Limits.MaxReplyBytes], or not as long as its header says.
func CheckAnswer(frame Frame, limits Limits) error {
	if err := frame.Check(limits.MaxReplyBytes); err != nil {
		return NameLimit(err, "MaxReplyBytes")
	}
	if frame.Command() == CommandEviction {
		return nil
	}
	return wantCommand(frame, CommandReply)
}

// CheckEviction returns an error if the frame is no eviction that a server may send.
func CheckEviction(frame Frame, limits Limits) error {
	if err := CheckAnswer(frame, limits); err != nil {
		return err
	}
	return wantCommand(frame, CommandEviction)
}

// CheckReply returns an error if a frame that came from a server ends the link: an eviction, or what is no reply.
func CheckReply(frame Frame) error {
	if frame.Command() == CommandEviction {
		return &EvictedError{Frame: frame}
	}
	return wantCommand(frame, CommandReply)
}

func wantCommand(frame Frame, command Command) error {
	if frame.Command() != command {
		return fmt.Errorf("%w: command %d instead of %d", ErrProtocol, frame.Command(), command)
	}
	return nil
}
