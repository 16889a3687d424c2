import Model

/// `darkroom-report(5)`: the files of a job in the outbox, the keys of its report, and the codes of entries that failed.
enum ReportPage {
  static let page = ManualPage(
    name: "darkroom-report", section: 5, summary: "what darkroom writes into the outbox",
    chapters: [
      .init("description", [.text(description)]),
      .init("files", [.terms(files)]),
      .init("keys", [.text(keyRules), .terms(keys)]),
      .init("codes of failures", [.text(codeRules)] + stages.flatMap(stage)),
      .init(
        "examples",
        [
          .text("Prints which entries failed:"),
          .code(["jq -r '.entries[] | select(.error) | .name' outbox/cats/report.json"]),
        ]),
    ],
    related: [("darkroom", 1), ("darkroom-events", 5), ("darkroom-manifest", 5), ("jq", 1)])

  private static let description = """
    Each job has a folder in the outbox, named after its manifest. Once its `report.json` exists, everything that it lists is
    complete and on disk. The report is JSON with an entry on each line. Times are RFC 3339 in UTC with milliseconds; the unit
    of a number is in its key, sizes are in bytes, sides in pixels; paths are relative to the job's folder. Keys without a value
    are left out, and later versions may have more.
    """

  private static let files: [ManualPage.Item] = [
    .init(.path("images/NAME.EXT"), "the finished pictures; a file here is always complete"),
    .init(.path("originals/NAME.EXT"), "their sources, with --keep-originals"),
    .init(.path("previews/NAME.jpg"), "small pictures of large results, for the gallery"),
    .init(.path("entries.jsonl"), "a line for each entry as it ends"),
    .init(.path("index.html"), "the gallery; outbox/index.html lists the jobs"),
    .init(.path("report.json"), "the report, written last"),
    .init(.path("JOB.failed.jsonl"), "the entries that failed, if any did, as a manifest of the job JOB.failed"),
    .init(.path("manifest.EXT"), "the manifest, moved here when the job is done"),
    .init(.path("history/RUN_ID/"), "report, manifest and lists of earlier runs"),
  ]

  private static let keyRules = """
    A dot joins the key of an object and a key in it; `[]` stands for the members of an array. Keys that are not in every report
    or entry are optional.
    """

  private static let keys = SchemaKeys.report.all.map { key in ManualPage.Item(.literal(key.path), key.meaning) }

  private static let codeRules = "Codes are stable; messages are for people, and may change."

  private static let stages: [FailureCode.Stage] = [.download, .filter, .outbox, .plan]

  private static func stage(_ stage: FailureCode.Stage) -> [ManualPage.Block] {
    let codes = FailureCode.all.filter { $0.stage == stage }
    return [
      .heading("stage \(stage.rawValue)"),
      .terms(
        codes.map { code in
          let explanation = code.explanation
          return .init(.literal(code.text), "\(explanation.cause). Remedy: \(explanation.remedy).")
        }),
    ]
  }
}
