package fileconn

import (
	"fmt"
	"time"
)

// CheckLayout refuses a layout of package time that says nothing of a time, or that package time cannot read back.
func CheckLayout(layout string) error {
	// Every element of it differs from that of the time which layouts are made of; the year is a leap year, as is the
	// year 0 that a layout without one gives.
	sample := time.Date(1996, time.November, 28, 22, 33, 44, 987654321, time.UTC)
	text := sample.Format(layout)
	if _, err := time.Parse(layout, text); err != nil || text == layout {
		return fmt.Errorf("%q is no layout of a time; one is 2006-01-02 15:04:05", layout)
	}
	return nil
}
