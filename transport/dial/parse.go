package dial

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ParseError says which part of a connection string breaks a rule. It holds no credential, nor anything that could be
// one in a string with a wrong delimiter: of the string itself it holds names and values of options only.
type ParseError struct {
	// Part is scheme, credentials, host, port, options or option and its name.
	Part string
	// Rule says what is allowed.
	Rule string
}

// Error names the part and the rule.
func (e *ParseError) Error() string {
	return fmt.Sprintf("iggy: connection string: %s: %s", e.Part, e.Rule)
}

func broken(part, rule string, args ...any) error {
	return &ParseError{Part: part, Rule: fmt.Sprintf(rule, args...)}
}

// otherWays ends a rule that a password may not be able to keep.
const otherWays = "nothing is decoded here, so a password with @, : or ? needs an access token in its place, or Config.Credentials"

// Parse reads a connection string and fills in the defaults. The error is a [*ParseError].
func Parse(text string) (Config, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || strings.Contains(rest, "://") {
		return Config{}, broken("scheme", "one :// stands behind it")
	}
	protocol, ok := protocolOf(scheme)
	if !ok {
		return Config{}, broken("scheme", "one of iggy, iggy+tcp, iggy+quic, iggy+ws and iggy+http, in lower case")
	}
	credentials, rest, found := strings.Cut(rest, "@")
	if !found {
		return Config{}, broken("credentials", "user:password@ or token@ stands before the host")
	}
	if strings.Contains(rest, "@") {
		return Config{}, broken("credentials", "there is one @ in all, before the host; %s", otherWays)
	}
	addr, options, hasOptions := strings.Cut(rest, "?")
	if strings.Contains(options, "?") {
		return Config{}, broken("options", "there is one ? in all, before the first of them")
	}
	d := draft{Config: Config{Protocol: protocol}}
	if err := d.readCredentials(credentials); err != nil {
		return Config{}, err
	}
	if err := d.readAddr(addr); err != nil {
		return Config{}, err
	}
	if err := d.readOptions(options, hasOptions); err != nil {
		return Config{}, err
	}
	return d.config(), nil
}

func protocolOf(scheme string) (Protocol, bool) {
	switch scheme {
	case "iggy", "iggy+tcp":
		return TCP, true
	case "iggy+quic":
		return QUIC, true
	case "iggy+ws":
		return WebSocket, true
	case "iggy+http":
		return HTTP, true
	default:
		return "", false
	}
}

// readCredentials takes them as they are: nothing is decoded or cut off.
func (d *draft) readCredentials(text string) error {
	user, password, isUser := strings.Cut(text, ":")
	switch {
	case strings.Contains(text, "?"):
		return broken("credentials", "no ? in them; %s", otherWays)
	case text == "":
		return broken("credentials", "user:password@ or token@ stands before the host, not empty")
	case !isUser:
		d.Credentials.Token = NewSecret(text)
		return nil
	case user == "" || password == "":
		return broken("credentials", "neither the user nor the password is empty; an access token has no colon")
	case strings.Contains(password, ":"):
		return broken("credentials", "one colon, between user and password; %s", otherWays)
	}
	d.Credentials.Username, d.Credentials.Password = user, NewSecret(password)
	return nil
}

func (d *draft) readAddr(addr string) error {
	colon := strings.LastIndexByte(addr, ':')
	if colon < 0 || strings.HasSuffix(addr, "]") {
		return broken("port", "a colon and a port from 1 to 65535 stand behind the host")
	}
	host, port := addr[:colon], addr[colon+1:]
	if err := d.readHost(host); err != nil {
		return err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return broken("port", "a number from 1 to 65535")
	}
	d.Port = uint16(n)
	return nil
}

func (d *draft) readHost(host string) error {
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(inner)
		if !closed || err != nil || !ip.Is6() {
			return broken("host", "in brackets stands an IPv6 address")
		}
		d.Host = inner
		return nil
	}
	switch {
	case host == "":
		return broken("host", "it is not empty")
	case strings.Contains(host, ":"):
		return broken("host", "an IPv6 address stands in brackets, and one colon before the port")
	case strings.ContainsFunc(host, isNoHostRune):
		return broken("host", "a name of letters, digits, dots, hyphens and underscores, an IPv4 address or an IPv6 address in brackets")
	}
	d.Host = host
	return nil
}

// isNoHostRune says whether a name cannot have a rune. Names in other scripts are written in their ASCII form.
func isNoHostRune(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
		return false
	default:
		return true
	}
}
