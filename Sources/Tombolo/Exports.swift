// A model file says `import SwiftData` and nothing else: what it uses of these comes along.
@_exported public import Foundation
@_exported public import Observation
@_exported public import struct TomboloProtocol.ErrorCode
@_exported public import struct TomboloProtocol.TomboloError
