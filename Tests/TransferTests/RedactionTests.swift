import Testing

@testable import Transfer

/// What was meant to be a URL shows no secret, whatever is wrong with it.
@Suite struct RedactionTests {
  static let secrets = [
    "https//user:secret@h/p.jpg", "https//secret@h/p", "//user:secret@h/p", "://user:secret@h/p",
    "https:\\\\user:secret@h\\p", "https:\\user:secret@h\\p", "https; //user:secret@h/p", "https: //user:secret@h/p",
    "https : / / user:secret@h/p", "https:user:secret@h/p", "https/user:secret@h/p", "https/secret@h/p",
    "user:secret@h/p", "secret:x-oauth-basic@h/p", "secret:@h", "https//user:secret@h", "user:secret@h",
    "\"https://user:secret@h/p\"", "<https://user:secret@h/p>", "url=https://user:secret@h/p", "ttps//user:secret@h/p",
    "htp:user:secret@h/p", "htp://user:secret@h/p", "https//us er:sec@ret@h/p", "https//user:sec/secret@h/p",
    "https//user:secret@\u{301}h/p", "https://user:secret@h h/p", "\u{a0}https://user:secret@h/p",
    "ftp//user:secret@h/p", "HTTPS//user:secret@h/p", "https:////user:secret@h:x/p",
  ]

  @Test(arguments: secrets)
  func `a text that is nearly a URL is shown, and named, without its secret`(text: String) {
    let shown = SourceLocation.redacted(text)
    #expect(!shown.contains("secret"), "\(shown)")
    #expect(shown.hasSuffix("h") || shown.contains("p") || shown.contains("h"), "the host remains: \(shown)")
    do {
      let location = try SourceLocation(parsing: text)
      #expect(!location.redacted.contains("secret") && !location.lastPathComponent.contains("secret"))
    } catch {
      #expect(!error.message.contains("secret"), "\(error.message)")
    }
  }

  @Test(arguments: ["me@home.jpg", "folder@2x/a.jpg", "a/b@c/d.jpg", "@eaDir/x.jpg", "./me@work.png", "/srv/a@b.jpg"])
  func `a path keeps what is no secret`(path: String) throws {
    #expect(try SourceLocation(parsing: path).redacted == path)
  }
}
