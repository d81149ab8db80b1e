package dial_test

import (
	"fmt"

	"github.com/runnel-go/runnel/transport/dial"
)

func ExampleParse() {
	config, err := dial.Parse("iggy+ws://iggy:secret@[::1]:8092?tls=true&tls_validate_certificate=true")
	if err != nil {
		fmt.Println(err)
		return
	}
	dialer, err := config.Dialer()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config)
	fmt.Println(dialer.Addr())

	_, err = dial.Parse("iggy://iggy:sec@ret@localhost:8090")
	fmt.Println(err)
	// Output:
	// iggy+ws://[redacted]@[::1]:8092
	// wss://[::1]:8092/
	// iggy: connection string: credentials: there is one @ in all, before the host; nothing is decoded here, so a password with @, : or ? needs an access token in its place, or Config.Credentials
}
