import Foundation

// Usage: TomboloBenchmarks [--count N] [--runs N] [--only store|sync|load] [--json]
// Each figure stands beside its peer of the same run; of several runs the median is printed.

var count = 100_000
var runs = 1
var only: String?
var isJSON = false

var arguments = CommandLine.arguments.dropFirst().makeIterator()
while let argument = arguments.next() {
  switch argument {
  case "--count": count = arguments.next().flatMap { Int($0) } ?? 0
  case "--runs": runs = arguments.next().flatMap { Int($0) } ?? 0
  case "--only": only = arguments.next()
  case "--json": isJSON = true
  default:
    FileHandle.standardError.write(
      Data("unknown option \(argument); usage: [--count N] [--runs N] [--only store|sync|load] [--json]\n".utf8))
    exit(64)
  }
}
guard count >= 100, count <= 10_000_000, (1...100).contains(runs) else {
  FileHandle.standardError.write(Data("--count takes 100 to 10000000, --runs 1 to 100\n".utf8))
  exit(64)
}

/// The median by ratio, so that a figure and its peer stay those of one run.
func median(_ results: [[BenchmarkResult]]) -> [BenchmarkResult] {
  guard let first = results.first else { return [] }
  return first.indices.map { index in
    let sorted = results.map { $0[index] }.sorted { ($0.ratio ?? $0.value) < ($1.ratio ?? $1.value) }
    return sorted[sorted.count / 2]
  }
}

/// One run in a process of its own: what an earlier run left in memory and caches would help the next one.
func runApart(_ part: String, count: Int) throws -> [BenchmarkResult] {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = ["--count", "\(count)", "--only", part, "--json"]
  process.standardOutput = output
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw BenchmarkFailure("a run of \(part) failed") }
  return try text.split(separator: "\n").map { try BenchmarkResult(json: String($0)) }
}

let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
let parts: [String] = only.map { [$0] } ?? ["store", "sync", "load"]
var results: [BenchmarkResult] = []
for part in parts {
  if runs > 1 {
    results += median(try (0..<runs).map { _ in try runApart(part, count: count) })
  } else if part == "store" {
    results += try StoreBenchmark(count: count, programs: programs).run()
  } else if part == "sync" {
    results += try SyncBenchmark(count: count, programs: programs).run()
  } else {
    results += try LoadBenchmark(programs: programs).run()
  }
}
if isJSON {
  for result in results { print(result.json) }
} else {
  print("\(count) rows, median of \(runs)")
  print(BenchmarkResult.heading)
  for result in results { print(result.line) }
}
