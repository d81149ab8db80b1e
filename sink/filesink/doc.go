// Package filesink writes records to files: as NDJSON, CSV, lines, or with an encoder of the user; plain or compressed;
// into one file in place, or into numbered files that appear when they are done.
//
// # One file
//
//	filesink.NDJSON[Order]("orders.ndjson")
//
// The file is written in place and open over many checkpoints; what is in it can be read at once. A checkpoint holds the
// length that the file has then. The next start cuts what lies beyond and goes on there, so that with a durable
// checkpoint store nothing is lost and nothing repeated. A start without a checkpoint refuses a file that is there and
// holds something ([ErrExists]), unless [Replace] or [Append] says what to do with it. Nobody else may write to the file,
// cut it or move it away meanwhile; a checkpoint that finds so fails ([ErrChanged]). What somebody added to it while no
// pipeline ran lies beyond the checkpoint, and is cut.
//
// # Many files
//
//	filesink.NDJSON[Order]("orders-%05d.ndjson", filesink.RollBytes(64<<20))
//
// With [RollBytes], [RollRecords] or [RollEvery] the name has one verb for the number of the file, %d or %05d, and a
// file is finished as soon as one of them says so. Files are written under a hidden name in the same folder
// (".orders-00001.ndjson.part"). A finished one gets its name when the checkpoint that covers it is committed, and the
// last one at a clean end: who reads the folder sees finished files only, and each of them once. Names are not used
// again while the pipeline has its checkpoints. Files may be taken away once they have their names.
//
// # What an acknowledgement means
//
// A checkpoint waits until the disk has the records (fsync of the file, and of its folder where names are new), or with
// [AckWritten] until the operating system has them, which outlives the process but not a loss of power. Files have their
// names durably once their checkpoint is committed, and what is in them is on the disk.
//
// # Compression
//
// Names that end in .gz are written with gzip, .zst with Zstandard; [Gzip], [Zstd] and [Uncompressed] say otherwise. A
// member of the archive ends at each checkpoint, so that what a checkpoint holds is a whole archive; few records between
// two checkpoints compress badly.
//
// # Failures
//
// A record that its encoder refuses goes by the sink's error policy, alone. When the disk is full, the file is cut back
// to its last whole record, and the records that have no place are returned as failed and can be retried (see
// runnel.Retry). Records of earlier batches that are still in the block which is being filled stay there; the checkpoint
// waits for them, and fails if there is still no place.
//
// Two writers of one file, in one process or two, keep each other out by an advisory lock on Linux, macOS and the BSDs.
package filesink
