import Foundation
import Imaging
import Testing
import TestSupport
import Transfer

@testable import Model

@Suite struct FailureCodeTests {
  /// Every code that an entry can fail with. A cancelled entry has no failure, and `io` is one code for all stages.
  private static let codes: [FailureCode] =
    TransferError.Code.allCases.filter { $0 != .cancelled && $0 != .io }.map(FailureCode.download)
    + ImagingError.Code.allCases.filter { $0 != .cancelled && $0 != .io }.map(FailureCode.filter)
    + [.io, .nameConflict, .dependencyFailed]

  @Test(arguments: codes)
  func `a code comes back from its text`(code: FailureCode) {
    #expect(FailureCode(text: code.text) == code)
  }

  @Test(arguments: [("http-status", 204, "http-status (204)"), ("checksum-mismatch", 200, "checksum-mismatch")])
  func `the status of an answer is shown where it is the failure`(code: String, status: Int, text: String) {
    #expect(FailureKind(code: code, httpStatus: status).text == text)
  }

  @Test(arguments: ["", "IO", "io ", "no-such-code", "name_conflict", "decoder_crashed"])
  func `a text that is no code of this version is none`(text: String) {
    #expect(FailureCode(text: text) == nil)
  }

  @Test func `the codes of each stage are those of the schema of reports`() throws {
    let schema = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Documentation/report.schema.json")))
    let definitions = try #require((schema as? [String: Any])?["$defs"] as? [String: Any])
    func codes(_ name: String) throws -> Set<String> {
      Set(try #require((definitions[name] as? [String: Any])?["enum"] as? [String]))
    }
    let stages: [FailureCode.Stage] = [.download, .filter, .outbox, .plan]
    for (stage, name) in stages.map({ ($0, $0.rawValue) }) {
      let ours = Set(Self.codes.filter { $0.stage == stage }.map(\.text))
      #expect(try ours == codes(name + "ErrorCode"))
    }
  }

  @Test func `what a module calls io is a failure of a file of ours, whichever the module`() {
    #expect(EntryFailure(TransferError(.io, "")).code == .io)
    #expect(EntryFailure(ImagingError(code: .io, message: "")).code == .io)
    #expect(FailureCode.io.stage == .outbox && FailureCode.nameConflict.stage == .outbox)
  }
}
