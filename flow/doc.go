// Package flow holds the operators of Runnel: functions from stream to stream that map, filter, batch, split and merge.
//
//	lines := runnel.From(p, source)
//	flights := flow.TryMap(lines, parse, runnel.Skip())
//	late := flow.Filter(flights, func(f Flight) bool { return f.Delay > 15 })
//	flow.Batch(late, 100, time.Second).To(sink)
//
// What holds for all of them:
//
// Order. Records leave in the order in which they came, unless the doc says otherwise. No record overtakes a marker.
//
// Delivery. An operator neither loses a record nor repeats one: each input goes into an output, is filtered on purpose,
// or fails and goes by the error policy. Functions may be called again for the same record after a restart.
//
// Metadata. Key, event time, headers and origin of a record travel with it, through mappings too. Operators that make
// one record of many (Batch) keep the greatest event time and the first origin, and drop key and headers.
//
// Errors. A function that returns an error, or panics, fails for that record alone: it is called again as [runnel.Retry]
// says, then the record is dropped ([runnel.Skip]), sent to a sink ([runnel.DeadLetter]), or ends the run (the default).
// The records before and behind it are not concerned. A panic arrives as a [*runnel.PanicError]. An error that is
// context.Canceled is no failure of a record: the run ends, and the record is read again.
//
// Functions. Those that take a context are for work that waits, and get one that ends at the hard stop; the others are
// for computing. With [runnel.Parallel] a function is called from several goroutines at once. Values are shared by all
// branches of a stream: a function that changes one in place copies it first.
//
// Operators take the options of every stage: [runnel.Name], [runnel.Parallel], [runnel.Retry] and so on. All of them are
// built from [runnel.Apply], [runnel.Fork] and [runnel.Merge], which are there for operators of one's own too.
//
// The marble lines in the docs read from left to right: values, | for the end, and x for a failure.
package flow
