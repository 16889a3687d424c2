import Imaging
import Manifests
import Planning

/// `darkroom-manifest(5)`: formats, fields, recipes and error codes of rejected manifests.
enum ManifestPage {
  /// Example manifests; the tests check them.
  static let examples: [(file: String, text: [String])] = [
    (
      "cats.json",
      [
        "{",
        "  \"cat\": \"https://pictures.example/chelsea.jpg\",",
        "  \"travel/rocket\": {",
        "    \"url\": \"https://pictures.example/rocket.jpg\",",
        "    \"filters\": \"grayscale() contrast(1.2)\",",
        "    \"format\": \"png\"",
        "  }",
        "}",
      ]
    ),
    (
      "cats.csv",
      [
        "url,name,quality,photographer",
        "https://pictures.example/chelsea.jpg,cat,92,Stefan",
        "https://pictures.example/rocket.jpg,travel/rocket,,NASA",
      ]
    ),
    ("cats.txt", ["# cats", "https://pictures.example/chelsea.jpg", "https://pictures.example/rocket.jpg"]),
  ]

  static let page = ManualPage(
    name: "darkroom-manifest", section: 5, summary: "lists of pictures for darkroom",
    chapters: [
      .init("description", [.text(description)]),
      .init("formats", [.text("The extension, in any case, tells the format; `.gz` may follow."), .terms(formats)]),
      .init("fields", [.text(fieldRules), .terms(fields), .text(defaults), .text(sources)]),
      .init("recipes", [.text(recipes), .terms(filters)]),
      .init("examples", examples.flatMap { [.text("`\($0.file)`"), .code($0.text)] }),
      .init("diagnostics", [.text(rejection), .terms(codes)]),
    ],
    related: [("darkroom", 1), ("darkroom-report", 5)])

  private static let description = """
    A manifest lists pictures. Its name without the extension is the name of its job; each picture that it lists is an entry. Drop
    it into the inbox with `darkroom add`, or write it under a name that begins with a dot and rename it. `darkroom check` shows
    the plan without running it. The inbox skips these files: dot files, `*.tmp`, `*.part`, `*~`, `~$*`, `Thumbs.db`,
    `desktop.ini` and `README*`.
    """

  private static let formats = ManifestFormats.all.map { format in
    ManualPage.Item(.literal(format.extensions.map { "." + $0 }.joined(separator: ", ")), format.summary)
  }

  private static let fieldRules = """
    An entry is a URL, or an object with these fields, in upper or lower case. Other fields go to `metadata`. A field whose name
    is nearly one of these rejects the manifest; in tables it is a warning. Fields that begin with `_` are comments.
    """

  private static let fields = EntryField.all.map { field in
    ManualPage.Item(
      .literal(field.name),
      field.value + (field.isRequired ? " (required)" : field.standard.map { " (default: \($0))" } ?? ""))
  }

  private static let defaults =
    "The `defaults` of an envelope may have " + list(EntryField.all.filter(\.isDefault).map(\.name)) + "."

  private static let sources =
    "A `.json` or `.plist` with a `source` takes its entries from a list at that URL, or from the files of a folder beneath "
    + "--file-root: `file:incoming/` those directly in it, `file:incoming/**` those of all folders beneath, "
    + "`file:incoming/**/*.jpg` the ones that match; an array may have several, and files to leave out: "
    + "`[\"file:incoming/**\", \"!*.md\", \"!incoming/drafts/\"]`. Files that are no pictures by their names are skipped "
    + "(`\"others\": \"fail\"`: they fail). Beside it there may be `defaults` and, for the download of the "
    + "list, " + list(EntryField.all.filter(\.isBesideSource).map(\.name)) + "."

  private static let recipes = """
    A recipe is a list of functions, separated by spaces and applied from left to right, or `none`. CSS functions have the
    meaning of the W3C's Filter Effects Module Level 1. `darkroom filters --explain RECIPE` explains a recipe. The
    key `recipes` of a configuration file names some: `{"recipes": {"thumb": "resize(fit 256 256)"}}`. Arguments have
    the syntax of CSS: `?` follows an optional part, `|` separates alternatives.
    """

  private static let filters = FilterRegistry.all.map { filter in
    ManualPage.Item(
      .literal("\(filter.name)(\(filter.syntax))"),
      filter.summary + (filter.defaultArgument.map { " (default: \($0))" } ?? ""))
  }

  private static let rejection =
    "An error in the manifest as a whole rejects it before anything is downloaded. The report then has `errors`, "
    + "\(ManifestProblem.reportLimit) at most, each with its location and one of these codes:"

  private static let codes = ManifestProblem.Code.allCases.map { code in
    ManualPage.Item(.literal(code.rawValue), "\(code.cause). Remedy: \(code.remedy).")
  }

  private static func list(_ names: [String]) -> String {
    let quoted = names.map { "`\($0)`" }
    return quoted.dropLast().joined(separator: ", ") + (quoted.count > 1 ? " and " : "") + (quoted.last ?? "")
  }
}
