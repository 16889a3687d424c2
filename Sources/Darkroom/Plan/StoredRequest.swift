import Transfer

/// What of an entry's source is not its first URL, as the index keeps it.
struct StoredRequest: Equatable {
  var mirrors: [String] = []
  var request = SourceRequest.plain

  init(mirrors: [String], request: SourceRequest) {
    self.mirrors = mirrors
    self.request = request
  }

  /// - Parameter text: nil for a plain GET without mirrors.
  /// - Throws: `ManifestProblem`, `RequestFields.Problem`: only when the index was damaged.
  init(_ text: String?) throws {
    guard let text, case .object(let members) = try JSONValue(parsing: text) else { return }
    if case .array(let urls)? = members.first(where: { $0.key == "url" })?.value { mirrors = urls.compactMap(\.string) }
    request = try RequestFields(members).request(defaults: RequestFields())
  }

  /// nil for a plain GET without mirrors.
  var text: String? {
    if mirrors.isEmpty, request == .plain { return nil }
    return JSONValue.object([.init("url", .array(mirrors.map(JSONValue.string)))] + request.members).text
  }
}
