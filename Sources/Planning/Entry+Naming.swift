import Imaging
import JSON
import JobIndex
import Model
import Transfer

extension Entry {
  /// - Parameters:
  ///   - name: The name that the manifest gives, by a field or a key; nil to derive one from the URL.
  ///   - given: The output for that name.
  ///   - line: The line of an entry in a table or a list, after which one without URL is named.
  init(
    position: Int, urls: [String], request: SourceRequest, key: String? = nil, named name: String?,
    _ given: OutputName?, base: String?, line: Int?,
    recipe: Recipe, options: OutputOptions, priority: Priority, checksum: Checksum?, metadata: JSONValue?
  ) {
    // The URL is only parsed for derived names.
    let location = given == nil ? urls.first.flatMap { try? SourceLocation(parsing: $0) } : nil
    // A row without URL must be found in its table, and is no request that could have had a name in the last run.
    let unnamed = urls.first == "" ? line.map { "line-\($0)" } : nil
    let safe = given?.path ?? unnamed ?? OutputName.derived(from: location, in: base)
    let hasRequest = given == nil && unnamed == nil
    let digest = hasRequest ? RequestDigest.digest(of: urls.first ?? "", location, request, key: key) : nil
    self.init(
      position: position, urls: urls, request: request, key: key, name: safe,
      originalName: name.flatMap { $0 == safe ? nil : $0 },
      isNameExplicit: name != nil, requestDigest: digest, isNameReplaced: given?.replacedClaim != nil, recipe: recipe,
      options: options, priority: priority, checksum: checksum, metadata: metadata)
  }
}
