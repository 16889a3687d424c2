import Imaging

struct FiltersCommand: Command {
  let name = "filters"
  let operands = ""
  let summary = "list the filter functions and the recipes of the configuration file, or explain the steps of a recipe"
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
}
