import TomboloProtocol
import TomboloSQLite

extension Connection.FunctionValue {
  init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .text(let value): .text(value)
      case .blob(let value): .blob(value)
      }
  }
}

extension Value {
  init(_ value: Connection.FunctionValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .text(let value): .text(value)
      case .blob(let value): .blob(value)
      }
  }
}
