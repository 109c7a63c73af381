import Foundation

// Usage: TomboloBenchmarks [--count N] [--runs N] [--only store|sync] [--json]
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
      Data("unknown option \(argument); usage: [--count N] [--runs N] [--only store|sync] [--json]\n".utf8))
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
    let sorted = results.map { $0[index] }.sorted { ($0.ratio ?? $0.milliseconds) < ($1.ratio ?? $1.milliseconds) }
    return sorted[sorted.count / 2]
  }
}

let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
var results: [BenchmarkResult] = []
if only != "sync" { results += median(try (0..<runs).map { _ in try StoreBenchmark(count: count).run() }) }
if only != "store" {
  results += median(try (0..<runs).map { _ in try SyncBenchmark(count: count, programs: programs).run() })
}
if isJSON {
  for result in results { print(result.json) }
} else {
  print("\(count) rows, median of \(runs)")
  print(BenchmarkResult.heading)
  for result in results { print(result.line) }
}
