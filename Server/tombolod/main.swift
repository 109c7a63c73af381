import Foundation

// A client that goes away while it is written to must not end the process.
signal(SIGPIPE, SIG_IGN)
exit(Program.run(Array(CommandLine.arguments.dropFirst())))
