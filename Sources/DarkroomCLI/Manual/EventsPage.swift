/// `darkroom-events(5)`: the lines that `run --json` and `watch --json` print.
enum EventsPage {
  static let page = ManualPage(
    name: "darkroom-events", section: 5, summary: "what darkroom prints with --json while it works",
    chapters: [
      .init("description", [.text(description)]),
      .init("events", [.terms(events)]),
      .init("keys", [.text(keyRules), .terms(keys)]),
      .init(
        "examples",
        [
          .text("Prints the entries that fail, as they do:"),
          .code([
            "darkroom run --json |",
            "  jq -r 'select(.event == \"entry-ended\" and .entry.error) | .entry.url'",
          ]),
        ]),
    ],
    related: [("darkroom", 1), ("darkroom-report", 5), ("jq", 1)])

  private static let description = """
    With --json, `run` and `watch` print an object on a line of standard output for each event. Those of several jobs are mixed;
    `job` says which one. Each has `event` and `time` (RFC 3339 in UTC with milliseconds). Later versions may have more events
    and keys. A script that only wants results waits for `job-ended`, and reads the report.
    """

  private static let events = SchemaKeys.events.kinds.map { name, meaning, keys in
    ManualPage.Item(
      .literal(name), meaning + (keys.isEmpty ? "" : " Keys: " + keys.map { "`\($0)`" }.joined(separator: ", ") + "."))
  }

  private static let keyRules =
    "A dot joins the key of an object and a key in it; `[]` stands for the members of an array."

  private static let keys = SchemaKeys.events.all.filter { !["event", "time"].contains($0.path) }.map { key in
    ManualPage.Item(.literal(key.path), key.meaning)
  }
}
