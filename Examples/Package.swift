// swift-tools-version: 6.2
import PackageDescription

// Four small apps on SwiftData that sync, as one would write them. Two are in Swift 6 mode, two in Swift 5 mode.

let models: [Target.Dependency] = [.product(name: "SwiftData", package: "tombolo")]

func program(_ name: String, _ mode: SwiftLanguageMode, uses others: [Target.Dependency] = []) -> Target {
  .executableTarget(
    name: name, dependencies: models + ["Terminal"] + others, swiftSettings: [.swiftLanguageMode(mode)])
}

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "tombolo", path: "..")],
  targets: [
    .target(
      name: "Terminal", dependencies: models + [.product(name: "TomboloClient", package: "tombolo")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    program("bookshelf", .v6),
    program("habits", .v5),
    .target(name: "EventModels", dependencies: models, swiftSettings: [.swiftLanguageMode(.v5)]),
    program("planner", .v5, uses: ["EventModels"]),
    program("workouts", .v6),
  ]
)
