import Testing

/// A way to break an outbox, and the kind of problem that it is.
struct OutboxDamage: CustomTestStringConvertible, Sendable {
  let kind: String
  /// Lines of Python that break it, after `prelude`.
  let script: String
  /// What else is wrong then.
  let consequences: [String]

  init(_ kind: String, _ script: String, with consequences: [String] = []) {
    self.kind = kind
    self.script = script
    self.consequences = consequences
  }

  var testDescription: String { kind }

  /// Job `a` has three rows and an earlier run, job `b` three rows of which the second failed.
  static let prelude = """
    import hashlib, json, os, shutil, sqlite3, sys
    out, inbox = sys.argv[1:3]
    os.chdir(out)

    def read(path): return open(path, "rb").read()
    def write(path, data): open(path, "wb").write(data.encode() if isinstance(data, str) else data)
    def append(path, data): write(path, (read(path) if os.path.exists(path) else b"") + data)
    def earlier(): return "a/history/" + os.listdir("a/history")[0]
    def current(job): return json.loads(read(job + "/report.json"))["run_id"]
    def lines(path): return read(path).splitlines(True)

    def report(change, path="a/report.json"):
        value = json.loads(read(path))
        change(value)
        write(path, json.dumps(value))

    def row(index, change, job="a"):
        "Changes a row in the report and in the log."
        report(lambda value: change(value["entries"][index]), job + "/report.json")
        rows = [json.loads(line) for line in lines(job + "/entries.jsonl")]
        for found in rows:
            if found["index"] == index: change(found)
        write(job + "/entries.jsonl", "".join(json.dumps(found) + "\\n" for found in rows))

    def ledger(change):
        "Adds a copy of a job of the ledger, changed."
        database = sqlite3.connect(".darkroom/ledger.sqlite")
        cursor = database.execute("SELECT * FROM jobs LIMIT 1")
        names = [column[0] for column in cursor.description]
        values = dict(zip(names, cursor.fetchone())) | change
        marks = ", ".join("?" for _ in names)
        database.execute(f"INSERT INTO jobs ({', '.join(names)}) VALUES ({marks})", [values[name] for name in names])
        database.commit()


    """

  static let all = reports + rows + results + documents + state

  private static let reports = [
    OutboxDamage("report-unreadable", "write('a/report.json', read('a/report.json')[:400])"),
    OutboxDamage("report-missing", "os.unlink('a/report.json')"),
    OutboxDamage("report-misplaced", "report(lambda value: value.update(job='c'))"),
    OutboxDamage("state-wrong", "report(lambda value: value.update(state='partial'))"),
    OutboxDamage("counts-wrong", "report(lambda value: value['counts'].update(reused=1))"),
    OutboxDamage("time-wrong", "report(lambda value: value.update(duration_s=-259198))"),
    OutboxDamage(
      "duplicate-run",
      """
      path = earlier()
      report(lambda value: value.update(run_id=current("a")), path + "/report.json")
      os.rename(path, "a/history/" + current("a"))
      """),
    OutboxDamage(
      "history-newer",
      """
      path, run = earlier(), "99991231T235959Z-00000000"
      report(lambda value: value.update(run_id=run), path + "/report.json")
      os.rename(path, "a/history/" + run)
      """),
  ]

  private static let rows = [
    OutboxDamage("row-incomplete", "row(1, lambda row: row.pop('error'), 'b')", with: ["failures-differ"]),
    OutboxDamage("row-order", "report(lambda value: value['entries'].reverse())"),
    OutboxDamage("duplicate-row", "row(1, lambda row: row.update(name='three'))"),
    OutboxDamage(
      "duplicate-output", "row(1, lambda row: row['output'].update(file='images/three.jpg'))"),
    OutboxDamage("result-outside", "row(0, lambda row: row['output'].update(file='../b/images/rocket.jpg'))"),
  ]

  private static let results = [
    OutboxDamage("result-missing", "os.unlink('a/images/one.png')"),
    OutboxDamage(
      "result-not-regular",
      """
      os.rename("a/images/one.png", inbox + "/.one.png")
      os.symlink(inbox + "/.one.png", "a/images/one.png")
      """),
    OutboxDamage("result-size", "append('a/images/one.png', b'x')"),
    OutboxDamage(
      "result-digest",
      """
      data = bytearray(read("a/images/one.png"))
      data[len(data) // 2] ^= 1
      write("a/images/one.png", data)
      """),
    OutboxDamage(
      "result-undecodable",
      """
      data = bytearray(read("a/images/one.png"))
      data[2000:3000] = bytes(1000)
      write("a/images/one.png", data)
      row(0, lambda row: row["output"].update(sha256=hashlib.sha256(data).hexdigest()))
      """),
    OutboxDamage("result-dimensions", "row(0, lambda row: row['output'].update(width=1))"),
    OutboxDamage("result-without-row", "write('a/images/four.jpg', read('a/images/two.jpg'))"),
    OutboxDamage(
      "original-without-row", "os.mkdir('a/originals'); write('a/originals/two.jpg', read('a/images/two.jpg'))"),
    OutboxDamage("preview-wrong", "row(0, lambda row: row.update(preview='previews/one.jpg'))"),
    OutboxDamage(
      "preview-without-row", "os.mkdir('a/previews'); write('a/previews/two.jpg', read('a/images/two.jpg'))"),
    OutboxDamage("stray-file", "write('b/notes.txt', 'x')"),
    OutboxDamage("page-torn", "write('a/index.html', read('a/index.html')[:-1])"),
    OutboxDamage("temporary-left", "write('b/.darkroom-1234', 'x')"),
  ]

  private static let documents = [
    OutboxDamage("manifest-missing", "os.unlink('a/manifest.csv')"),
    OutboxDamage("manifest-digest", "append('a/manifest.csv', b'x')"),
    OutboxDamage("manifest-twice", "write('a/manifest.txt', 'x')"),
    OutboxDamage("job-unreadable", "os.unlink('b/entries.jsonl'); os.mkdir('b/entries.jsonl')"),
    OutboxDamage("log-missing", "os.unlink('a/entries.jsonl')"),
    OutboxDamage("log-torn", "append('a/entries.jsonl', b'{\"index\":3,')"),
    OutboxDamage("log-row-missing", "write('a/entries.jsonl', b''.join(lines('a/entries.jsonl')[1:]))"),
    OutboxDamage("log-row-twice", "append('a/entries.jsonl', lines('a/entries.jsonl')[0])"),
    OutboxDamage("log-row-differs", "report(lambda value: value['entries'][0].update(attempts=7))"),
    OutboxDamage("failures-missing", "os.unlink('b/b.failed.jsonl')"),
    OutboxDamage("failures-unexpected", "write('a/a.failed.jsonl', '')"),
    OutboxDamage("failures-differ", "append('b/b.failed.jsonl', read('b/b.failed.jsonl'))"),
    OutboxDamage("failures-readable", "os.chmod('b/b.failed.jsonl', 0o644)"),
  ]

  private static let state = [
    OutboxDamage(
      "staging-left",
      """
      os.makedirs(".darkroom/staging/12345678", exist_ok=True)
      write(".darkroom/staging/12345678/20261122T152206Z-cb87da92-0.source", "x")
      """),
    OutboxDamage(
      "ledger-damaged",
      """
      data = bytearray(read(".darkroom/ledger.sqlite"))
      data[4096:] = bytes(len(data) - 4096)
      write(".darkroom/ledger.sqlite", data)
      """),
    OutboxDamage(
      "snapshot-missing", "ledger({'run_id': '20990101T000000Z-00000000', 'state': 'running'})",
      with: ["job-unfinished"]),
    OutboxDamage(
      "job-unfinished",
      """
      ledger({"run_id": "20990101T000000Z-00000000", "state": "running"})
      write(".darkroom/jobs/20990101T000000Z-00000000.txt", "x")
      """),
    OutboxDamage("snapshot-left", "write('.darkroom/jobs/20990101T000000Z-00000000.txt', 'x')"),
    OutboxDamage("inbox-left", "write(inbox + '/.darkroom-add-1234', 'x')"),
    OutboxDamage("inbox-manifest", "write(inbox + '/c.txt', 'x')"),
  ]
}
