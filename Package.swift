// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

// Every Swift target of the package is built with these settings.
let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The folder with the toolchain's own SwiftSyntax, or nil where the package has to ask for swift-syntax.
///
/// The manifest runs inside the toolchain: its memory map names the library `PackageDescription` was loaded from
/// (`<toolchain>/usr/lib/swift/pm/ManifestAPI/…`), and the libraries the compiler itself uses lie beside `pm`, in `host`.
/// SwiftPM refuses unsafe flags in a package that is required by version, so a copy inside a checkouts folder
/// asks for the swift-syntax package instead.
let toolchainHost: String? = {
  if Context.packageDirectory.contains("/checkouts/") { return nil }
  // Read line by line: a file in /proc has no size, and one read returns a page of it at most.
  guard let maps = fopen("/proc/self/maps", "r") else { return nil }
  defer { fclose(maps) }
  var buffer = [CChar](repeating: 0, count: 8192)
  while fgets(&buffer, Int32(buffer.count), maps) != nil {
    let line = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard line.hasSuffix("/libPackageDescription.so\n"), let slash = line.firstIndex(of: "/"),
      let cut = line.range(of: "/pm/")
    else { continue }
    let host = String(line[slash..<cut.lowerBound]) + "/host"
    if FileManager.default.fileExists(atPath: host + "/SwiftSyntax.swiftmodule") { return host }
  }
  return nil
}()

let macroTarget: Target = {
  guard let host = toolchainHost else {
    return .macro(
      name: "TomboloMacros",
      dependencies: [
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
      ],
      path: "Sources/TomboloMacros",
      swiftSettings: swiftSettings + [.define("TOMBOLO_SWIFT_SYNTAX_PACKAGE")])
  }
  return .macro(
    name: "TomboloMacros",
    path: "Sources/TomboloMacros",
    swiftSettings: swiftSettings + [.unsafeFlags(["-I", host])],
    linkerSettings: [
      .unsafeFlags(["-L", host, "-Xlinker", "-rpath", "-Xlinker", host]),
      .linkedLibrary("SwiftSyntax"),
      .linkedLibrary("SwiftSyntaxBuilder"),
      .linkedLibrary("SwiftParser"),
      .linkedLibrary("SwiftSyntaxMacros"),
      .linkedLibrary("SwiftDiagnostics"),
      .linkedLibrary("SwiftCompilerPluginMessageHandling"),
    ])
}()

/// Test targets that look at macro expansions link the same SwiftSyntax.
let macroTestSettings: (swift: [SwiftSetting], linker: [LinkerSetting]) = {
  guard let host = toolchainHost else { return ([], []) }
  return (
    [.unsafeFlags(["-I", host])],
    [
      .unsafeFlags(["-L", host, "-Xlinker", "-rpath", "-Xlinker", host]),
      .linkedLibrary("SwiftSyntax"),
      .linkedLibrary("SwiftSyntaxBuilder"),
      .linkedLibrary("SwiftSyntaxMacros"),
      .linkedLibrary("SwiftSyntaxMacroExpansion"),
      .linkedLibrary("SwiftParser"),
      .linkedLibrary("SwiftBasicFormat"),
      .linkedLibrary("SwiftDiagnostics"),
      .linkedLibrary("SwiftCompilerPluginMessageHandling"),
    ]
  )
}()

/// Builds a target from its name, its folder and its layer's arrows; the list of targets below is the architecture.
func target(_ name: String, in folder: String, uses dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: swiftSettings)
}

func program(_ name: String, at path: String, uses dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: swiftSettings)
}

func tests(_ name: String, uses dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)", resources: resources, swiftSettings: swiftSettings)
}

func system(_ name: String, pkgConfig: String, package: String) -> Target {
  .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let package = Package(
  name: "tombolo",
  products: [
    .library(name: "Tombolo", targets: ["Tombolo"]),
    .library(name: "SwiftData", targets: ["SwiftData"]),
    .library(name: "TomboloClient", targets: ["TomboloClient"]),
    .library(name: "TomboloSimulation", targets: ["TomboloSimulation"]),
    .executable(name: "tombolo", targets: ["TomboloProgram"]),
    .executable(name: "tombolod", targets: ["tombolod"]),
  ],
  dependencies: toolchainHost == nil
    ? [.package(url: "https://github.com/swiftlang/swift-syntax.git", from: "603.0.0")] : [],
  targets: [
    system("CTomboloSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    system("CTomboloCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    system("CTomboloMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    system("CTomboloSodium", pkgConfig: "libsodium", package: "libsodium-dev"),
    system("CTomboloZstd", pkgConfig: "libzstd", package: "libzstd-dev"),

    target("TomboloProtocol", in: "Protocol", uses: ["CTomboloSodium"]),
    target("TomboloSQLite", in: "Sources", uses: ["CTomboloSQLite"]),
    target("TomboloCompression", in: "Sources", uses: ["CTomboloZstd"]),
    macroTarget,
    target("Tombolo", in: "Sources", uses: ["TomboloProtocol", "TomboloSQLite", "TomboloMacros"]),
    target("SwiftData", in: "Sources", uses: ["Tombolo"]),
    target(
      "TomboloClient", in: "Client",
      uses: ["Tombolo", "TomboloProtocol", "TomboloSQLite", "TomboloCompression", "CTomboloCurl"]),
    target("TomboloServer", in: "Server", uses: ["TomboloProtocol", "TomboloSQLite", "TomboloCompression"]),
    target(
      "TomboloSimulation", in: "Simulation",
      uses: [
        "TomboloClient", "TomboloServer", "TomboloCompression", "Tombolo", "TomboloProtocol", "TomboloSQLite",
      ]),
    program(
      "tombolod", at: "Server/tombolod",
      uses: ["TomboloServer", "TomboloProtocol", "TomboloSQLite", "CTomboloMicroHTTPD"]),
    .target(
      name: "TomboloCommand",
      dependencies: ["TomboloClient", "TomboloSimulation", "Tombolo", "TomboloProtocol", "TomboloSQLite"],
      path: "Client/tombolo", swiftSettings: swiftSettings),
    // Apart from what it runs: SwiftPM does not always build an executable's module before the tests that import it.
    program(
      "TomboloProgram", at: "Client/TomboloProgram",
      uses: ["TomboloCommand", "TomboloClient", "Tombolo", "TomboloSQLite"]),
    program(
      "TomboloBenchmarks", at: "Benchmarks/TomboloBenchmarks",
      uses: [
        "SwiftData", "Tombolo", "TomboloClient", "TomboloCompression", "TomboloProtocol", "TomboloSQLite",
        "CTomboloSQLite",
      ]),

    tests("ProtocolTests", uses: ["TomboloProtocol"]),
    tests("SQLiteTests", uses: ["TomboloSQLite", "TomboloCompression"]),
    .testTarget(
      name: "MacroTests", dependencies: ["TomboloMacros"], path: "Tests/MacroTests",
      swiftSettings: swiftSettings + macroTestSettings.swift, linkerSettings: macroTestSettings.linker),
    tests("ModelTests", uses: ["SwiftData", "Tombolo", "TomboloProtocol", "TomboloSQLite"]),
    tests("QueryTests", uses: ["Tombolo", "TomboloProtocol", "TomboloSQLite"]),
    tests("StoreTests", uses: ["Tombolo", "TomboloProtocol", "TomboloSQLite"]),
    tests("ServerTests", uses: ["TomboloServer", "TomboloProtocol", "TomboloSQLite", "TomboloCompression"]),
    tests(
      "ClientTests",
      uses: ["SwiftData", "TomboloClient", "TomboloServer", "Tombolo", "TomboloProtocol", "TomboloSQLite"]),
    tests(
      "CommandTests",
      uses: [
        "TomboloCommand", "TomboloSimulation", "TomboloClient", "TomboloServer", "TomboloCompression", "Tombolo",
        "TomboloProtocol", "TomboloSQLite",
      ]),
    tests(
      "SimulationTests",
      uses: ["TomboloSimulation", "SwiftData", "TomboloClient", "Tombolo", "TomboloProtocol", "TomboloSQLite"]),
    tests(
      "ScenarioTests",
      uses: ["TomboloSimulation", "TomboloClient", "TomboloServer", "Tombolo", "TomboloProtocol", "TomboloSQLite"]),
    // One of the processes that a test starts on one store.
    program("TomboloHammer", at: "Tests/TomboloHammer", uses: ["SwiftData", "TomboloClient"]),
    tests(
      "EndToEndTests",
      uses: [
        "TomboloProgram", "tombolod", "TomboloHammer", "TomboloSimulation", "Tombolo", "TomboloProtocol",
        "TomboloSQLite",
      ]),
    tests("TidyTests", uses: []),
  ],
  swiftLanguageModes: [.v6]
)
