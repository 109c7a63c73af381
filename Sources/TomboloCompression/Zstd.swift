import CTomboloZstd

/// Zstandard frames (RFC 8878) in memory.
package enum Zstd {
  package enum Failure: Error, Sendable {
    /// The bytes are no whole Zstandard frame.
    case damaged
    /// The content would be larger than the caller allows.
    case tooLarge(limit: Int)
    /// The library could not compress.
    case failed
  }

  /// - Parameter level: 1 (fast) to 19; 1 suits messages.
  package static func compress(_ bytes: [UInt8], level: Int32 = 1) throws -> [UInt8] {
    let bound = ZSTD_compressBound(bytes.count)
    return try [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
      let size = bytes.withUnsafeBytes { ZSTD_compress(buffer.baseAddress, bound, $0.baseAddress, $0.count, level) }
      guard ZSTD_isError(size) == 0 else { throw Failure.failed }
      count = size
    }
  }

  /// The same with a checksum of the content in the frame, for files that are kept and handed on: a byte that changes on the
  /// way is noticed.
  package static func compressWithChecksum(_ bytes: [UInt8]) throws -> [UInt8] {
    guard let context = ZSTD_createCCtx() else { throw Failure.failed }
    defer { ZSTD_freeCCtx(context) }
    guard ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)) == 0 else { throw Failure.failed }
    let bound = ZSTD_compressBound(bytes.count)
    return try [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
      let size = bytes.withUnsafeBytes {
        ZSTD_compress2(context, buffer.baseAddress, bound, $0.baseAddress, $0.count)
      }
      guard ZSTD_isError(size) == 0 else { throw Failure.failed }
      count = size
    }
  }

  /// - Parameter limit: the most bytes that the content may have; checked while decompressing, whatever the frame says.
  package static func decompress(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
    guard let stream = ZSTD_createDStream() else { throw Failure.failed }
    defer { ZSTD_freeDStream(stream) }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: ZSTD_DStreamOutSize())
    return try bytes.withUnsafeBytes { source in
      var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
      var status = 1
      while status != 0 {
        let before = input.pos
        let produced = try chunk.withUnsafeMutableBytes { target in
          var buffer = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
          status = ZSTD_decompressStream(stream, &buffer, &input)
          guard ZSTD_isError(status) == 0 else { throw Failure.damaged }
          return buffer.pos
        }
        guard output.count + produced <= limit else { throw Failure.tooLarge(limit: limit) }
        output.append(contentsOf: chunk[..<produced])
        if status != 0, produced == 0, input.pos == before { throw Failure.damaged }
      }
      guard input.pos == input.size else { throw Failure.damaged }
      return output
    }
  }
}
