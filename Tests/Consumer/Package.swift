// swift-tools-version: 6.0
import PackageDescription

// A package beside Tombolo, as a user's is: it declares models, saves and fetches, in both language modes.
let package = Package(
  name: "Consumer",
  dependencies: [.package(name: "tombolo", path: "../..")],
  targets: [
    .target(
      name: "OlderMode", dependencies: [.product(name: "SwiftData", package: "tombolo")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "Consumer", dependencies: ["OlderMode", .product(name: "SwiftData", package: "tombolo")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
