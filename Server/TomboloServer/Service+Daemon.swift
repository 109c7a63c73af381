import TomboloProtocol

/// What only a listener needs.
extension Service {
  /// Makes the data directory, so that it can be locked before anything in it is opened.
  /// - Throws: `data_directory_unusable`.
  package static func makeDirectory(_ directory: String) throws { try DataDirectory.make(directory, vfs: nil) }

  /// The answer to a request whose body a listener did not read to its end.
  package func refusal(of request: ServiceRequest, bytesMax: Int) -> ServiceResponse {
    failure(TomboloError.requestTooLarge(limit: bytesMax), for: request)
  }

  /// The answer to a request that a listener does not hand in, since it can be understood in two ways.
  package func refusal(of request: ServiceRequest, because reason: String) -> ServiceResponse {
    failure(TomboloError.malformed(reason), for: request)
  }

  /// ``collectTombstones()`` for a caller that has nobody to tell of a failure.
  package func collectTombstonesAndLog() {
    do {
      try collectTombstones()
    } catch {
      options.log("collecting tombstones: \(error)")
    }
  }

  /// ``recountChecksums(part:)`` for a caller that has nobody to tell of a failure. A sum that was another one is told in the
  /// log: something changed the file behind the server's back.
  package func recountChecksumsAndLog(part: Int) {
    do {
      let changed = try recountChecksums(part: part)
      if changed > 0 { options.log("checksums: \(changed) sums were not those of the rows; replicas will compare") }
    } catch {
      options.log("recounting checksums: \(error)")
    }
  }
}
