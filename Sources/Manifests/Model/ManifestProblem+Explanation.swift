extension ManifestProblem.Code {
  /// Why manifests are rejected with the code, for the manual. Text in backquotes is literal.
  package var cause: String {
    switch self {
    case .syntax:
      "not well-formed; also a key, a field or a column that occurs twice (the message says where the first is), "
        + "an empty `.json` or `.plist`, a row with too many or too few cells, damaged gzip, a file of another kind, such as "
        + "a spreadsheet or an HTML page; or the program ended four times while it read it"
    case .encoding:
      "not UTF-8; tables and text lists may also be Windows-1252 as a whole, tables UTF-16 with a byte-order mark"
    case .tooLarge:
      "the file, a line, a row or the unpacked data is larger than its limit"
    case .tooDeep:
      "more than 32 nested arrays and objects"
    case .unknownField:
      "a field whose name is nearly that of an existing one, or that is not allowed there; an unknown option in a text list"
    case .wrongType:
      "a value of another type than the field's; a dictionary that is one entry"
    case .badValue:
      "a value that the field cannot have, no `url`, `defaults` without `entries`, a number beyond 64 bits, or a text with "
        + "more than 128 combining marks in a row"
    case .duplicateName:
      "two entries with the same name; the message says where the other is"
    case .badRecipe:
      "a recipe that does not parse; the message gives the offset in bytes"
    case .unknownDependency:
      "`after` has a name that no entry has, or that of a variant"
    case .cycle:
      "entries that come after themselves; the message has the cycle, or the beginning of a long one"
    case .sourceFailed:
      "the list or the folder that the manifest names as its source could not be read; `error` has the code "
        + "of the download, with `stage`, `message`, `http_status` and `retryable`"
    }
  }

  /// The remedy.
  package var remedy: String {
    switch self {
    case .syntax: "see the message"
    case .encoding: "save it as UTF-8"
    case .tooLarge: "use `.jsonl`, or shorter lines"
    case .tooDeep: "flatten it"
    case .unknownField: "see the message"
    case .wrongType: "see the message"
    case .badValue: "see the message"
    case .duplicateName: "rename one"
    case .badRecipe: "correct it"
    case .unknownDependency: "correct the name, or add the entry"
    case .cycle: "remove one `after`"
    case .sourceFailed: "that of the code"
    }
  }
}
