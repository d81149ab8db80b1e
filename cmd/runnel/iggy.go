package main

// Where the server listens if no flag says so: the ports of Iggy.
const (
	defaultTCP       = "127.0.0.1:8090"
	defaultQUIC      = "127.0.0.1:8080"
	defaultWebSocket = "127.0.0.1:8092"
	defaultHTTP      = "127.0.0.1:3000"
)

func iggyCommand() *command {
	return &command{
		name:  "iggy",
		short: "Run a server that speaks the protocol of Apache Iggy.",
		sub: []*command{{
			name:  "serve",
			args:  "[--tcp ADDR] [--quic ADDR] [--ws ADDR] [--http ADDR] [--data DIR] [--fsync WHEN] [--username U] [--password-file FILE] [--tls-cert FILE --tls-key FILE] [--allow-remote]",
			short: "Run the server until it is interrupted.",
			long: "It is one node, which keeps everything in memory, where it is gone when the server ends, or with --data in a\n" +
				"folder. What was acknowledged survives there that the process is killed; --fsync says what survives a loss of\n" +
				"power: never leaves it to the system, 1s takes at most what was written within a second, always takes nothing.\n" +
				"In a folder that was in use the root user is what it was. Without a flag for an address it listens at\n" +
				defaultTCP + " (TCP), " + defaultQUIC + " (QUIC), " + defaultWebSocket + " (WebSocket) and\n" +
				defaultHTTP + " (HTTP), and else only where the flags say. Port 0 lets the system choose.",
			setup: setupServe,
		}},
	}
}
