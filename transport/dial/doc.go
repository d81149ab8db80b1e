// Package dial reads the connection strings of Apache Iggy and makes a dialer of any transport of them.
//
//	iggy://iggy:secret@127.0.0.1:8090
//	iggy+quic://TOKEN@server.example:8080?keep_alive_interval=2000
//	iggy+ws://iggy:secret@[2001:db8::1]:8092?tls=true&tls_validate_certificate=true
//
// A string is a scheme, credentials, a host, a port and options. The scheme is iggy or iggy+tcp, iggy+quic, iggy+ws or
// iggy+http, in lower case. Credentials are user:password, or an access token, which has no colon. An IPv6 address
// stands in brackets. Nothing is decoded: what stands between the delimiters is meant as it is, so that a password with
// @, : or ? cannot be written; [Config.Credentials] takes any. Of an option that is given twice the last value counts,
// and each has to be valid. Booleans are true or false; other clients take anything for false, this one refuses it.
// Durations are written like 5s, 500ms or 1m30s, those in ms as numbers.
//
// Options of TCP, QUIC and WebSocket (a default of - is none):
//
//	heartbeat_interval           5s         pause between signs of life of a client
//	max_pending_operations       256        writes that a client keeps for retry
//	max_pending_operation_bytes  67108864   their length together
//
// Options of TCP and WebSocket:
//
//	reconnection_retries         unlimited  attempts to connect again, or unlimited
//	reconnection_interval        1s         pause before the first of them
//	reestablish_after            5s         age of a link after which the pauses start over
//	tls                          false      whether TLS is used
//	tls_domain                   -          name in the certificate, if it is not the host
//	tls_ca_file                  -          root certificates in PEM form, if they are not the machine's
//
// Options of TCP, where a certificate is always verified:
//
//	nodelay                      false      whether short frames are sent at once
//
// Options of WebSocket:
//
//	tls_validate_certificate     false      whether the certificate is verified
//	max_message_size             -          longest reply in bytes, if it is not that of the protocol
//	read_buffer_size             -          no effect: the library has buffers of its own
//	write_buffer_size            -          no effect: the library has buffers of its own
//	max_write_buffer_size        -          no effect: a frame is written as a whole
//	max_frame_size               -          no effect: replies are limited, however they are cut
//	accept_unmasked_frames       false      no effect: a rule for servers
//
// Options of QUIC:
//
//	reconnection_max_retries     unlimited  attempts to connect again, or unlimited
//	reconnection_interval        1s         pause before the first of them
//	reconnection_reestablish_after  5s      age of a link after which the pauses start over
//	response_buffer_size         64156564   longest reply in bytes
//	receive_window               100000     bytes of a reply before it is read, at first
//	initial_mtu                  1200       length of the first packets
//	keep_alive_interval          5000       pause in ms after which an idle link sends something
//	max_idle_timeout             10000      silence in ms that ends a link
//	validate_certificate         false      whether the certificate is verified, for the host as its name
//	max_concurrent_bidi_streams  10000      no effect: a server opens no streams
//	datagram_send_buffer_size    100000     no effect: there are no datagrams
//	send_window                  100000     no effect: the server's window bounds what is sent
//
// Options of HTTP:
//
//	heartbeat_interval           5s         pause between signs of life of a client
//	retries                      3          how often a request is made again
//
// Over HTTP there is no key for TLS, which [Config.TLS] turns on. As with every transport, the credentials are for the login
// that a client makes; other clients do not use them over HTTP.
package dial
