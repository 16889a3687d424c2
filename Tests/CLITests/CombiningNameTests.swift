import Foundation
import TestSupport
import Testing

/// Names whose first character combines with the slash before it in Swift, and folders whose last one does with that after it. To the
/// file system a slash is a slash.
@Suite(.blocking) struct CombiningNameTests {
  /// An emoji's selector, an accent, a joiner and a Thai vowel.
  static let marks = ["\u{fe0f}", "\u{301}", "\u{200d}", "\u{e31}"]

  private let folders: DarkroomFolders
  private var folder: TemporaryFolder { folders.folder }

  init() throws {
    folders = try DarkroomFolders()
    try folder.makeFolder("sources")
    try FileManager.default.copyItem(atPath: packageRoot + "/Samples/coffee.jpg", toPath: folder.file("sources/a.jpg"))
  }

  /// Runs lines of bash in which `$M` is the mark. One that hangs fails.
  @discardableResult
  private func bash(_ script: String, mark: String) throws -> DarkroomProcess.Finished {
    let run =
      "timeout 120 darkroom run --settle 0 --lock-wait 5 --file-root sources --filters none --inbox inbox --outbox outbox"
    return try DarkroomProcess.run(
      script: "run() { \(run) \"$@\"; }\n" + script, in: folder, environment: ["M": mark])
  }

  @Test(arguments: marks)
  func `a manifest in the inbox is processed`(mark: String) throws {
    try bash("echo a.jpg > inbox/${M}list.txt; run; test -s outbox/${M}list/images/a.jpg", mark: mark).expect(status: 0)
    #expect(try folders.inboxNames() == [])
  }

  @Test(arguments: marks)
  func `a manifest that is added or named, and its job, are processed`(mark: String) throws {
    try bash(
      """
      echo a.jpg > ${M}b.txt; run ${M}b.txt; test -s outbox/${M}b/images/a.jpg
      darkroom add ${M}b.txt; darkroom add --name=${M}c - < ${M}b.txt; run
      darkroom retry ${M}c; run; test -s outbox/${M}c/history/*/report.json
      """, mark: mark
    ).expect(status: 0)
  }

  @Test(arguments: marks)
  func `results have the names that the manifest or the source gives them`(mark: String) throws {
    try bash(
      """
      cp sources/a.jpg sources/${M}s.jpg
      printf '{"sub/%sb": "a.jpg", "%sc": "a.jpg", "e\u{600}/d": "a.jpg"}' $M $M > inbox/named.json
      printf '%ss.jpg\n' $M > inbox/derived.txt
      run --keep-originals
      for kind in images originals; do
        cd outbox/named/$kind; test -s sub/${M}b.jpg; test -s ${M}c.jpg; test -s e\u{600}/d.jpg; cd - > /dev/null
        test -s outbox/derived/$kind/${M}s.jpg
      done
      """, mark: mark
    ).expect(status: 0)
  }

  @Test(arguments: marks)
  func `files of folders are entries, also beneath such a folder`(mark: String) throws {
    try bash(
      """
      mkdir -p sources/d/${M}e\u{600}; cp sources/a.jpg sources/d/${M}b.jpg
      cp sources/a.jpg sources/d/${M}e\u{600}/${M}c.jpg
      echo '{"source": "file:**"}' > inbox/all.json
      printf '{"source": "file:d/%se\u{600}/"}' $M > inbox/one.json
      cp -r sources/d/${M}e\u{600} sources/${M}f; printf '{"source": "file:%sf/"}' $M > inbox/two.json
      run
      cd outbox/all/images; test -s a.jpg; test -s d/${M}b.jpg; test -s d/${M}e\u{600}/${M}c.jpg
      cd ../..; test -s one/images/${M}c.jpg; test -s two/images/${M}c.jpg
      """, mark: mark
    ).expect(status: 0)
  }

  @Test(arguments: marks)
  func `folders that are named or created may be called so`(mark: String) throws {
    try bash(
      """
      echo a.jpg > list.txt
      run --create --outbox p/${M}q --state s/${M}t --metrics p/${M}m.prom list.txt
      test -s p/${M}q/list/images/a.jpg; test -s p/${M}m.prom; test -d s/${M}t/jobs
      """, mark: mark
    ).expect(status: 0)
  }

  @Test(arguments: marks)
  func `a job is divided into shards in such a folder`(mark: String) throws {
    try bash(
      """
      printf '{"sub/%sb": "a.jpg", "%sc": "a.jpg"}' $M $M > ${M}list.json
      mkdir x; darkroom shard split --shards 2 ${M}list.json x/${M}shards
      darkroom shard run x/${M}shards --file-root sources --filters none --outbox outbox
      darkroom shard merge x/${M}shards --outbox outbox
      cd outbox/${M}list/images; test -s sub/${M}b.jpg; test -s ${M}c.jpg; test -s ../report.json
      """, mark: mark
    ).expect(status: 0)
  }

  @Test(arguments: marks)
  func `a dot file is none of the program's, whatever follows the dot`(mark: String) throws {
    try bash("echo a.jpg > inbox/.${M}list.txt; echo a.jpg > inbox/list.txt${M}; run", mark: mark).expect(status: 0)
    #expect(try folders.inboxNames() == [".\(mark)list.txt", "list.txt\(mark)"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folders.outbox).filter { $0 != ".darkroom" } == ["index.html"]
    )
  }
}
