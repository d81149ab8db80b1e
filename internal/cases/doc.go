// Package cases holds tests of whole pipelines: each plays a scenario that other systems are known to get wrong, and
// is named after it.
package cases
