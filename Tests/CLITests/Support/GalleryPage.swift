import Foundation
import TestSupport

/// A page of the gallery, read as a browser would.
struct GalleryPage {
  /// Its data.
  let data: [String: Any]

  /// The data as they stand in the page.
  let text: String

  /// All of it.
  let html: String

  /// - Returns: nil when there is none that is whole.
  init?(_ path: String) {
    guard let html = try? String(contentsOfFile: path, encoding: .utf8), html.hasPrefix("<!doctype html>\n"),
      html.split(separator: "\n").dropFirst().first == "<!-- darkroom gallery 1 -->", html.hasSuffix("</html>\n"),
      let begin = html.range(of: #"<script type="application/json" id="data">"#)?.upperBound,
      let end = html[begin...].range(of: "</script>")?.lowerBound,
      let data = try? JSONSerialization.jsonObject(with: Data(html[begin..<end].utf8)) as? [String: Any]
    else { return nil }
    (self.html, self.data) = (html, data)
    text = String(html[begin..<end])
  }

  var entries: [[String: Any]] { data["entries"] as? [[String: Any]] ?? [] }
  var head: [String: Any] { data["head"] as? [String: Any] ?? [:] }
  var jobs: [[String: Any]] { data["jobs"] as? [[String: Any]] ?? [] }

  /// Whether a process writes it again and again.
  var isLive: Bool { data["refresh_s"] != nil }

  /// Whether the page's own elements are all that it has: none of the data is one.
  var hasOnlyItsOwnElements: Bool {
    !text.contains { "<>&\u{2028}\u{2029}".contains($0) } && !text.contains("\n")
      && html.components(separatedBy: "</script").count == html.components(separatedBy: "<script").count
  }

  static func areEqual(_ one: [String: Any], _ other: [String: Any]) -> Bool {
    NSDictionary(dictionary: one).isEqual(to: other)
  }
}

extension DarkroomFolders {
  /// The page of a job; nil when there is none that is whole.
  func page(_ job: String) -> GalleryPage? { GalleryPage(outbox + "/" + job + "/index.html") }

  /// The page of the outbox.
  var outboxPage: GalleryPage? { GalleryPage(outbox + "/index.html") }

  /// Waits until a page is as it should be.
  func wait(for page: () -> GalleryPage?, _ isFine: (GalleryPage) -> Bool) -> GalleryPage? {
    let limit = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < limit {
      if let page = page(), isFine(page) { return page }
      usleep(50_000)
    }
    return nil
  }
}
