import Testing

@testable import Transfer

/// What was meant to be a URL shows no secret, whatever is wrong with it.
@Suite struct RedactionTests {
  static let secrets = [
    ("https//user:secret@h/p.jpg", "https//h/p.jpg"), ("https//secret@h/p", "https//h/p"),
    ("//user:secret@h/p", "//h/p"), ("://user:secret@h/p", "://h/p"),
    ("https:\\\\user:secret@h\\p", "https:\\\\h\\p"), ("https:\\user:secret@h\\p", "https:\\h\\p"),
    ("https; //user:secret@h/p", "https; //h/p"), ("https: //user:secret@h/p", "https: //h/p"),
    ("https : / / user:secret@h/p", "https : / / h/p"), ("https:user:secret@h/p", "https:h/p"),
    ("https/user:secret@h/p", "https/h/p"), ("https/secret@h/p", "https/h/p"), ("user:secret@h/p", "h/p"),
    ("secret:x-oauth-basic@h/p", "h/p"), ("secret:@h", "h"), ("https//user:secret@h", "https//h"),
    ("user:secret@h", "h"), ("\"https://user:secret@h/p\"", "\"https://h/p\""),
    ("<https://user:secret@h/p>", "<https://h/p>"), ("url=https://user:secret@h/p", "url=https://h/p"),
    ("ttps//user:secret@h/p", "ttps//h/p"), ("htps//secret@h/p", "htps//h/p"), ("htp:user:secret@h/p", "h/p"),
    ("htp://user:secret@h/p", "htp://h/p"), ("htp://secret@h/p", "htp://h/p"),
    ("https//us er:sec@ret@h/p", "https//h/p"), ("https//user:sec/secret@h/p", "https//h/p"),
    ("https//user:secret@\u{301}h/p", "https//\u{301}h/p"), ("https://user:secret@h h/p", "https://h h/p"),
    ("\u{a0}https://user:secret@h/p", "\u{a0}https://h/p"), ("ftp//user:secret@h/p", "ftp//h/p"),
    ("HTTPS//user:secret@h/p", "HTTPS//h/p"), ("https:////user:secret@h:x/p", "https:////h:x/p"),
    ("ftp/user:secret@h/p", "ftp/h/p"), ("secret@h.example/p", "h.example/p"),
    ("secret@h.example/p@2x.png", "h.example/p@2x.png"), ("secret@localhost:8080/p", "localhost:8080/p"),
    ("a/https://user:secret@h/p@2x.png", "a/https://h/p@2x.png"), ("sites//user:secret@h/p", "sites//h/p"),
    ("https://user:secret%40h/p", "https://h/p"), ("http://user:secret\u{ff20}h/p", "http://h/p"),
    ("https://user:secret%40\u{301}h/p", "https://\u{301}h/p"), ("https//secret%40h/p", "https//h/p"),
    ("https://user:secret@secret%40h:x/p", "https://h:x/p"),
  ]

  @Test(arguments: secrets)
  func `a text that is nearly a URL is shown, and named, without its secret`(text: String, expected: String) {
    #expect(SourceLocation.redacted(text) == expected)
    do {
      let location = try SourceLocation(parsing: text)
      #expect(!location.redacted.contains("secret") && !location.lastPathComponent.contains("secret"))
    } catch {
      #expect(!error.message.contains("secret"), "\(error.message)")
    }
  }

  @Test(arguments: [
    ("https://user:secret@h/x", "https://h/x"), ("user:secret@h/x", "h/x"), ("https://secret@h/x@2x", "https://h/x@2x"),
    ("see https://user:secret@h/x", "see https://h/x"), ("2026/https://user:secret@h/x", "2026/https://h/x"),
    ("https://a:secret@h/x https://b:secret@h/y", "https://h/x https://h/y"),
  ])
  func `a name loses the secret of the URL that it is`(name: String, expected: String) {
    #expect(SourceLocation.redacted(name: name) == expected)
  }

  @Test(arguments: [
    "me@home", "Foto: ich @ Rom", "a: b@c", "Café @ 12:30", "photos/12:30/me@home", "icon@2x", "https://h/icon@2x",
  ])
  func `a name that has an @ and no secret stays`(name: String) {
    #expect(SourceLocation.redacted(name: name) == name)
  }

  @Test(arguments: [
    ("the key \"https://user:secret@h/x\" occurs twice", "the key \"https://h/x\" occurs twice"),
    (
      "the name \"https://a:secret@h/x\" claims \"user:secret@h\" at line 3",
      "the name \"https://h/x\" claims \"h\" at line 3"
    ),
    ("the key \"https://user:secretsecr…\" occurs twice", "the key \"https://…\" occurs twice"),
    ("the key \"https://secretsecretsecr…\" occurs twice", "the key \"https://…\" occurs twice"),
    ("the key \"https://u:secret/secr…\" occurs twice", "the key \"https://…\" occurs twice"),
    ("the key \"https://h:8080/a/b/c…\" occurs twice", "the key \"https://h:8080/a/b/c…\" occurs twice"),
    ("unknown field \"a\"; write it as 12:30 or me@home", "unknown field \"a\"; write it as 12:30 or me@home"),
    ("https://user:secret@h/list.txt is a folder", "https://h/list.txt is a folder"),
  ])
  func `a message loses the secrets of what it quotes, and nothing else`(message: String, expected: String) {
    #expect(SourceLocation.redacted(message: message) == expected)
    #expect(!SourceLocation.redacted(message: "a \"quote" + message).contains("secret@"))
  }

  @Test(arguments: [
    "me@home.jpg", "folder@2x/a.jpg", "a/b@c/d.jpg", "@eaDir/x.jpg", "./me@work.png", "/srv/a@b.jpg",
    "photos//icon@2x.png", "a//b/c@2x.png", "/srv//a/b@2x.png", "./a//b@2x.png", "../a://b@2x.png",
    "./12:30/me@home.jpg", "../12:30/me@home.jpg", "/12:30/me@home.jpg", "photos/12:30/me@home.jpg", "./a:b@c.jpg",
    "a/b//12:30@c.jpg", "ftp/icon@2x.png", "file/icon@2x.png", "files//icon@2x.png", "cache/https://h/icon@2x.png",
    "folder@2x/a.b/c.jpg", "http-icons%40/a.jpg", "12:30%40home.jpg", "https%40.jpg",
  ])
  func `a path keeps what is no secret, and its name`(path: String) throws {
    let location = try SourceLocation(parsing: path)
    #expect(location.redacted == path)
    #expect(location.lastPathComponent == path.split(separator: "/").last.map(String.init))
  }
}
