// Package filesource reads records from files: lines, NDJSON, CSV, or what a decoder of the user makes of a line.
//
//	filesource.NDJSON[Order]("orders.ndjson.gz")
//	filesource.CSV[Order]("in/*.csv")
//	filesource.Lines("/var/log/app.log", filesource.Follow())
//
// # Which files
//
// The path is that of a file; of a directory, whose files are read but those whose name begins with a dot; or a glob of
// package filepath, in which the element ** stands for directories of any depth. Files are read in the order of their
// paths, with [Follow] in that of their last change. A file that has several names is read once. Only regular files are
// read. Files are unpacked if they begin as gzip or zstd do, whatever their name; of gzip all members, of zstd all
// frames.
//
// # Positions
//
// A partition of the source is a path, as it was found. Its position knows the file by device, inode and a hash of what
// was read of it, and says where in it, in bytes, the next record is; in an archive the bytes are those of what is
// unpacked. So a file that was renamed goes on where it was, and another one at the same path, or with the same inode,
// is read from its start. A file is found by its content alone where the system has no inodes. What is added to a file
// that was read to its end is read by the next run; a last line without line feed is a record, and what is added to it
// would be another. A position in an archive is reached by unpacking from the start of its member (gzip) or of the file
// (zstd). Reading goes back in no file by itself: the source can be read again from any position.
//
// # What is a record, and what is not
//
//   - A line ends at LF; a CR before it is taken away, any other is kept. So is not, at the start of a file, the byte
//     order mark of UTF-8. See [Raw].
//   - A last line without LF is a record. With [Follow] it waits for its LF, until the file is let go.
//   - Empty lines are records of [Lines] and [Decode]; [NDJSON] and CSV pass over them.
//   - Bytes that are not UTF-8 are passed on, unless [RequireUTF8] says otherwise. encoding/json, and so NDJSON,
//     replaces them.
//   - NUL bytes are kept; a line of nothing else is a failed record. See [StopAtNUL].
//   - Too long a line ([MaxLineBytes]), a line that cannot be decoded, a CSV record that is malformed or does not fit its
//     struct: a failed record each, and reading goes on behind it. The error policy of the source decides: end the run
//     (the default), runnel.Skip, or runnel.DeadLetter with the bytes of the record. The error is a *[RecordError] with
//     file, line and offset.
//   - What is wrong with a file ends the run behind the records before: it cannot be read, it is gone before its turn,
//     its archive is cut (io.ErrUnexpectedEOF) or followed by something ([ErrGarbage]), its columns do not fit
//     ([ErrColumns]). Behind a cut, the bytes that do not make a whole line are no record.
//
// # Following
//
// With [Follow] the source does not end. It asks the system to tell of changes, and looks by itself every
// [PollInterval].
//
// A file that is renamed away or removed is read to its end, waited on for [Grace], read to its end again and let go;
// what came to its path is read behind it. Rotations that nobody saw, as the program did not run or was busy, are made up
// for: files in the same folder that add a number or a date to the name (app.log.1, app.log-2024-03-01.gz), or .old, and
// were written to since are read too, also where the pattern does not match them.
//
// A file that became shorter than what was read, or whose bytes there are not what they were, is read from its start
// (copytruncate). A copy that rotation made of it, compressed or not, is known by its content if its name adds to that of
// the file (app.log.1.gz): it is read on from where the file was, which is usually its end. A file that is written anew
// with the very same bytes is not noticed.
//
// Few files are open at once ([MaxOpenFiles]), one goroutine reads, and nothing is left when the source is closed.
// Positions of files that are gone are dropped after [ForgetAfter]. [OnEvent] tells what happens.
package filesource
