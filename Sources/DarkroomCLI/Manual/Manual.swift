/// The manual, made from the definitions that the program works with.
struct Manual {
  static let names = ["darkroom", "darkroom-manifest", "darkroom-report"]

  let program: ManualPage
  let manifest = ManifestPage.page
  let report = ReportPage.page

  init(commands: [CommandGroup]) { program = DarkroomPage.page(commands) }

  var pages: [ManualPage] { [program, manifest, report] }
}
