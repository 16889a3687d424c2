import Foundation

/// A Python interpreter that has loaded numpy, Pillow with all its formats, jsonschema and what else many scripts import, and
/// runs each script in a copy of itself: loading them takes longer than most scripts.
final class PythonWorker: Sendable {
  private let process: SpawnedProcess
  private let tasks = Pipe()
  private let results = Pipe()

  init() throws {
    process = try SpawnedProcess(
      TestPython.interpreter, ["-c", Self.script],
      environment: ProcessInfo.processInfo.environment.merging(["OPENBLAS_NUM_THREADS": "1"]) { $1 },
      input: .pipe(tasks), output: .pipe(results))
  }

  /// Runs a script to its end, for ten minutes at most.
  /// - Returns: Its exit code, and what it printed.
  func run(_ task: PythonTask) throws -> (status: Int32, printed: Data) {
    try tasks.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(task) + Data("\n".utf8))
    let header = try LineReader(results, seconds: 600).next() ?? ""
    let numbers = header.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 3 else { throw TestPython.Failure(status: -1) }
    TestTimes.record(processor: Double(numbers[2]) / 1e6, ["python script"], of: TestTimes.current)
    var printed = Data()
    while printed.count < numbers[1] {
      guard let more = try results.fileHandleForReading.read(upToCount: numbers[1] - printed.count), !more.isEmpty
      else {
        throw TestPython.Failure(status: -1)
      }
      printed += more
    }
    return (Int32(numbers[0]), printed)
  }

  deinit {
    // Its group is itself and the copy that runs a script.
    kill(-process.id, SIGKILL)
  }

  /// Reads tasks from standard input, a line each; writes a line with exit code, length of what was printed and
  /// microseconds of processor time, then what was printed. Ends with the test run, which holds the other end.
  private static let script = #"""
    import argparse, base64, concurrent.futures, contextlib, fcntl, gc, glob, hashlib, io, json, math, os, re, runpy, shutil
    import sqlite3, struct, subprocess, sys, tempfile, traceback, warnings, zlib
    import jsonschema, numpy, pillow_heif, PIL.features, PIL.Image, PIL.ImageCms, PIL.ImageOps

    PIL.Image.init()
    gc.freeze()  # a collection in a copy would write to the pages that both share

    def run(task):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = io.TextIOWrapper(io.BytesIO(base64.b64decode(task["input"])), encoding="utf-8")
        sys.argv = ["-c"] + task["arguments"]
        try:
            exec(compile(task["script"], "script", "exec"), {"__name__": "__main__"})
            return 0
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            traceback.print_exc()
            return 1

    for line in sys.stdin:
        task = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(writing, 1)
            os.close(reading)
            os.close(writing)
            status = run(task)
            sys.stdout.flush()
            os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            printed = pipe.read()
        _, status, used = os.wait4(child, 0)
        status = os.waitstatus_to_exitcode(status)
        used = int((used.ru_utime + used.ru_stime) * 1e6)
        sys.stdout.buffer.write(b"%d %d %d\n" % (status, len(printed), used) + printed)
        sys.stdout.flush()
    """#
}

/// What a worker is to run.
struct PythonTask: Encodable {
  let script: String
  let arguments: [String]
  let input: Data
}
