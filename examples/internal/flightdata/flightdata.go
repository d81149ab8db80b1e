// Package flightdata has the input of the examples: flights of the United States in the first months of 2001, a line of JSON
// each, packed with gzip. Two of its lines are no flights.
package flightdata

import _ "embed" // for the sample

// Sample is the packed file.
//
//go:embed sample.ndjson.gz
var Sample []byte
