// Package iggyserver is an Apache Iggy server of one node, in process: for tests and examples with nothing installed,
// and for the command runnel iggy serve. It speaks the Iggy binary protocol 0.12 over TCP, WebSocket and QUIC,
// and has its HTTP interface.
//
//	server, err := iggyserver.Start(ctx)
//	if err != nil { … }
//	defer server.Close()
//	address := server.ConnectionString(dial.TCP) // iggy+tcp://iggy:iggy@127.0.0.1:40123
//
// Without options it listens with all of them on ports of 127.0.0.1 that the system chooses. It keeps everything in
// memory: what it was told is gone when it ends.
//
// Clients log in before anything but a ping. Whoever may not do something gets code 41. No request ends the server or
// stands in the way of other clients: what is no request closes its connection, each connection is closed that is silent
// for too long, and options bound how many there are and what each may ask for at once.
//
// Where to look: options.go says what can be set and check.go what is refused; server.go starts and ends, listen.go
// begins to listen, intake.go takes clients, conn.go serves one of them, http.go those over HTTP;
// faults.go and its like have what tests of clients need.
package iggyserver
