import TomboloProtocol

/// A store's name: it becomes a file's name, so it is kept to what no file system reads anything into.
enum StoreName {
  static let bytesMax = 64

  /// - Throws: `store_name_invalid`.
  static func validate(_ name: String) throws {
    let isValid =
      !name.isEmpty && name.utf8.count <= bytesMax
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      } && name.utf8.first != 0x2D
    guard isValid else { throw TomboloError.storeNameInvalid }
  }
}
