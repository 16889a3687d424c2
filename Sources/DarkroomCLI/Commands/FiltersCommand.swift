import Imaging

struct FiltersCommand: Command {
  let name = "filters"
  let operands = ""
  let summary =
    "list formats, filter functions and the recipes of the configuration file, or explain the steps of a recipe"
  let examples = [
    "darkroom filters",
    #"darkroom filters --explain "sepia(0.8) contrast(110%)""#,
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError(
        "filters takes no operands; to explain a recipe: filters --explain \"\(invocation.operands[0])\"")
    }
    if let recipe = invocation.settings.explain {
      try invocation.output.print(recipe.explanation.joined(separator: "\n"))
      return .success
    }
    for line in Self.formats {
      try invocation.output.print(TextLayout.wrapped(line, columns: 80, indent: "  "))
    }
    for filter in FilterRegistry.all {
      let standard = filter.defaultArgument.map { "; default " + $0 } ?? ""
      try invocation.output.print(filter.name + "(" + filter.syntax + ")")
      try invocation.output.print("    " + TextLayout.wrapped(filter.summary + standard, columns: 76, indent: "    "))
    }
    for (name, recipe) in invocation.settings.configuration.recipes.all {
      try invocation.output.print(name)
      try invocation.output.print("    " + TextLayout.wrapped("\(recipe)", columns: 76, indent: "    "))
    }
    return .success
  }

  /// The formats that are read and written.
  private static var formats: [String] {
    func names(_ formats: [ImageFormat]) -> String { formats.map(\.displayName).joined(separator: ", ") }
    let missing = ImageFormat.allCases.filter { $0.library?.isLoaded == false }
    let read = "reads: " + names(ImageFormat.allCases.filter { !missing.contains($0) })
    let why = missing.map { "; \($0.displayName) needs \($0.library?.name ?? ""), which is not installed" }
    return [
      read + why.joined(), "writes: " + names(ImageFormat.allCases.filter { $0.isWritable && !missing.contains($0) }),
    ]
  }
}
