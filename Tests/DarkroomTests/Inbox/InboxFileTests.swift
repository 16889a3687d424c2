import System
import Testing

@testable import Inbox

@Suite struct InboxFileTests {
  @Test(
    "a lock is what ends in .lock, in any case, dot files included, and the bare name",
    arguments: [
      "pause.lock", ".lock", ".hidden.lock", "PAUSE.LOCK", "x.LoCk", "lock", "LOCK", "Lock", "a b.lock", "m.json.lock",
      "README.lock", "x.tmp.lock", "日本.lock", "..lock",
    ])
  func locks(name: String) { #expect(InboxFile(named: FileName(name)) == .lock) }

  @Test("a lock may have any bytes before .lock")
  func lockOfBytes() {
    #expect(InboxFile(named: FileName(bytes: [0xff, 0xfe] + Array(".lock".utf8))) == .lock)
  }

  @Test(
    "a manifest's job is its name without the extension",
    arguments: [
      ("a.json", "a"), ("a.JSON", "a"), ("A b.txt", "A b"), ("a.b.jsonl", "a.b"), ("x.plist", "x"),
      ("lock.txt", "lock"),
      ("日本.txt", "日本"), ("e\u{301}.txt", "e\u{301}"), ("a.lock.txt", "a.lock"), ("-.txt", "-"),
      ("blocked.txt", "blocked"),
      ("a.readme.txt", "a.readme"), ("thumbs.txt", "thumbs"), ("a~$b.txt", "a~$b"), ("a.csv", "a"), ("a.tsv", "a"),
      ("a.ndjson", "a"), ("a.urls", "a"), ("a.csv.gz", "a"),
      ("a.Json.GZ", "a"), ("a.b.jsonl.gz", "a.b"), ("a.gz.txt", "a.gz"), ("a.txt.txt.gz", "a.txt"),
      ("a:b.json", "a_b~6783"), ("CON.json", "_~a3db"), ("a..json", "a_~5ab6"), ("a .json", "a_~6583"),
      ("com1.x.csv.gz", "_.x~e872"),
    ])
  func manifests(name: String, job: String) {
    guard case .manifest(let found) = InboxFile(named: FileName(name)) else {
      Issue.record("\(name) is no manifest")
      return
    }
    #expect(Array(found.utf8) == Array(job.utf8))
  }

  @Test(
    "these are skipped without a report",
    arguments: [
      ".a.json", ".darkroom-instance", "a.json.tmp", "a.TMP", "a.part", "a.json.PART", "a.json~", "README",
      "README.txt",
      "README.md", ".json", ".", "x.lock~", "x.lock.tmp", "readme.txt", "ReadMe", "Readme.json", "~$table.xlsx",
      "~$a.csv",
      "Thumbs.db", "thumbs.db", "THUMBS.DB", "desktop.ini", "Desktop.ini",
    ])
  func skipped(name: String) { #expect(InboxFile(named: FileName(name)) == .skipped) }

  @Test(
    "anything else is ignored",
    arguments: [
      "a", "json", "a.jpg", "a.json.bak", "a.jsonx", "a.", "a.gz", "a.png.gz", "a.json.gz.gz", "a.json ", "clock",
      "Thumbs.db.zip",
      "a.locks", "a.json\u{301}",
    ])
  func ignored(name: String) {
    guard case .ignored(let why) = InboxFile(named: FileName(name)) else {
      Issue.record("\(name) is not ignored")
      return
    }
    #expect(why.contains(".json"), "the message tells the extensions")
  }

  @Test("a name that is not UTF-8 is ignored, whatever its extension")
  func notUTF8() {
    #expect(
      InboxFile(named: FileName(bytes: [0x61, 0xff] + Array(".json".utf8))) == .ignored(why: "its name is not UTF-8"))
  }

  @Test("a job whose files could not be named is ignored", arguments: [("x", 250), ("é", 125), ("x", 201), ("x", 200)])
  func long(letter: String, count: Int) {
    let job = String(repeating: letter, count: count)
    let found = InboxFile(named: FileName(job + ".txt"))
    if job.utf8.count <= 200 {
      #expect(found == .manifest(job: job))
    } else {
      #expect(found == .ignored(why: "the job's name would be longer than 200 bytes"))
    }
  }
}
