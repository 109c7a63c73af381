import TomboloProtocol

/// Numbers under which connections keep prepared statements, instead of by their texts.
enum StatementNumber {
  private static let last = Guarded(0)
  /// One that no other statement of this process has.
  static func next() -> Int {
    last.withLock {
      $0 += 1
      return $0
    }
  }
}
