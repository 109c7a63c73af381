import Foundation
import Tombolo
import TomboloClient
import TomboloCommand
import TomboloSQLite

// A reader that has gone away (`tombolo list … | head`) ends the program quietly, as with any other tool.
signal(SIGPIPE, SIG_DFL)
SQLiteLibrary.prepareForThreads()
let context = CommandContext(
  output: .standard(), clock: SystemClock(), randomness: SystemRandomness(), makeTransport: { CurlTransport() })
exit(CommandRunner.run(Array(CommandLine.arguments.dropFirst()), in: context))
