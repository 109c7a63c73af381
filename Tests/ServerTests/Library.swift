import Foundation
import TomboloProtocol

/// The schema of these tests, and its versions.
enum Library {
  static let version1 = """
    {"name":"Library","version":"1.0.0","entities":[
      {"name":"Book","attributes":[
        {"name":"title","type":"string","default":""},
        {"name":"isbn","type":"string","optional":true},
        {"name":"stock","type":"int64","default":0,"merge":"counter"},
        {"name":"pages","type":"int16","optional":true},
        {"name":"rating","type":"double","optional":true},
        {"name":"cover","type":"data","optional":true}],
       "relationships":[
        {"name":"notes","destination":"Note","toMany":true,"inverse":"book","deleteRule":"cascade"},
        {"name":"tags","destination":"Tag","toMany":true,"inverse":"books"}],
       "unique":[["isbn"]]},
      {"name":"Note","attributes":[{"name":"text","type":"string","default":""}],
       "relationships":[{"name":"book","destination":"Book","inverse":"notes"}]},
      {"name":"Tag","attributes":[{"name":"label","type":"string","default":""}],
       "relationships":[{"name":"books","destination":"Book","toMany":true,"inverse":"tags"}]},
      {"name":"Shelf","attributes":[{"name":"code","type":"string"}],
       "unique":[{"attributes":["code"],"onConflict":"reject"}]}]}
    """

  /// Adds an optional attribute.
  static let version2 = version1.with("1.0.0", "1.1.0").with(
    #"{"name":"text","type":"string","default":""}"#,
    #"{"name":"text","type":"string","default":""},{"name":"at","type":"date","optional":true}"#)

  /// Renames a column and drops another.
  static let renamed = version1.with("1.0.0", "1.1.0").with(#""name":"title""#, #""name":"heading""#)
    .with(#"{"name":"rating","type":"double","optional":true},"#, "")

  static let unversioned = version1.with(#""version":"1.0.0","#, "")
}

extension String {
  func with(_ old: String, _ new: String) -> String {
    guard let range = range(of: old) else { return self }
    return replacingCharacters(in: range, with: new)
  }
}
