import Model

/// A field of an entry, for the readers of manifests and for the manual.
package struct EntryField: Sendable {
  package let name: String

  package let value: String

  /// The default; nil when there is none.
  package let standard: String?

  /// Whether every entry must have it.
  package let isRequired: Bool

  /// Whether the `defaults` of a manifest may contain it.
  package let isDefault: Bool

  /// Whether it may be used together with `source`, in a manifest whose entries are listed elsewhere.
  package let isBesideSource: Bool

  private init(
    _ name: String, _ value: String, standard: String? = nil, isRequired: Bool = false, isDefault: Bool = true,
    isBesideSource: Bool = false
  ) {
    self.name = name
    self.value = value
    self.standard = standard
    self.isRequired = isRequired
    self.isDefault = isDefault
    self.isBesideSource = isBesideSource
  }

  /// All fields. Those of the request come last.
  package static let all = [
    EntryField(
      "url", "a URL, or a path beneath --file-root; an array of them: mirrors, tried in order", isRequired: true,
      isDefault: false),
    EntryField(
      "name", "the output's path below images/, without extension; / makes folders",
      standard: "the key of a dictionary; else taken from the URL", isDefault: false),
    EntryField(
      "cache-key", "up to 1024 bytes that stand for the URL of a link that is signed anew each time", isDefault: false,
      isBesideSource: true),
    EntryField("filters", "a recipe", standard: "--filters"),
    EntryField("format", OutputFormatName.allCases.map(\.rawValue).joined(separator: ", "), standard: "--format"),
    EntryField("quality", "1 to 100, for JPEG, AVIF and lossy WebP", standard: "--quality"),
    EntryField(
      "priority",
      Entry.Priority.allCases.map(\.rawValue).joined(separator: ", ") + "; entries of a higher one start first",
      standard: "normal"),
    EntryField(
      "checksum", "sha-256=HEX, sha-512=HEX, sha-1=HEX or md5=HEX: the digest that the downloaded bytes must have",
      isDefault: false, isBesideSource: true),
    EntryField(
      "after", "an array of names of entries of the manifest that must succeed first, or one name", isDefault: false),
    EntryField(
      "variants",
      "an array of objects with name and, if they differ, filters, format and quality: several results of one download, "
        + "called NAME.VARIANT"),
    EntryField("metadata", "any JSON; it is copied to the report"),
    EntryField(
      "method", "GET, POST, PUT, PATCH or QUERY", standard: "GET; with body or form, POST", isBesideSource: true),
    EntryField(
      "headers", "an object of names and values; an array of values for a name that occurs more than once",
      isBesideSource: true),
    EntryField("body", "a string, sent in UTF-8", isBesideSource: true),
    EntryField("form", "an object of names and contents or files, sent as multipart/form-data", isBesideSource: true),
  ]
}
