import Foundation

/// A node of Foundation's predicate tree that can become SQL; one small file for each.
///
/// A node compiles its children through the compiler, which finds their conformances at run time: the nodes' own generic
/// constraints know nothing of SQL.
protocol QueryExpression: PredicateExpression {
  /// Writes the node as SQL, or says what it stands for until somebody else can.
  /// - Throws: `unsupported_predicate`.
  func operand(in compiler: QueryCompiler) throws -> QueryOperand
}

/// A node that passes on what a record has to satisfy: `&&`, or a comparison itself.
protocol DemandedExpression {}
