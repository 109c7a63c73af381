import Foundation
import TomboloSQLite

// A client that goes away while it is written to must not end the process.
signal(SIGPIPE, SIG_IGN)
// Tokens and data are their owner's only.
umask(0o077)
SQLiteLibrary.prepareForThreads()
exit(Program.run(Array(CommandLine.arguments.dropFirst())))
