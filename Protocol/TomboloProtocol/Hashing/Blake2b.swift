import CTomboloSodium

/// BLAKE2b with 256 bits (RFC 7693): fingerprints of schemas, and the only form in which a token is kept.
package enum Blake2b {
  /// Thirty-two bytes.
  package static func hash256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    // It fails only for lengths that the call does not have.
    crypto_generichash(&digest, digest.count, input, UInt64(input.count), nil, 0)
    return digest
  }
}
