import Foundation
import Synchronization

/// The Python interpreter of the tests, with Pillow, numpy, jsonschema and libvips: `script/bootstrap` makes it in
/// `.build/test-python`.
package enum TestPython {
  package static let interpreter = packageRoot + "/.build/test-python/bin/python3"

  private static let idle = Mutex<[PythonWorker]>([])

  /// Runs a script with arguments and standard input; returns what it printed. What it writes to standard error is
  /// passed on to the test run's.
  /// - Throws: `Failure` when it exits other than 0.
  package static func run(_ script: String, _ arguments: [String] = [], input: Data = Data()) throws -> Data {
    let worker = try idle.withLock { $0.popLast() } ?? PythonWorker()
    let (status, printed) = try worker.run(PythonTask(script: script, arguments: arguments, input: input))
    idle.withLock { $0.append(worker) }
    guard status == 0 else { throw Failure(status: status) }
    return printed
  }

  /// A script that failed; its own words are on standard error.
  package struct Failure: Error {
    let status: Int32
  }
}

/// The folder that holds `Package.swift`.
package let packageRoot: String = {
  var url = URL(fileURLWithPath: #filePath)
  for _ in 0..<3 { url.deleteLastPathComponent() }
  return url.path
}()
