import Database
import Glibc
import Imaging
import System
import Testing
import Transfer

@testable import Model

@Suite struct EntryFailureTests {
  private static func httpStatus(_ status: Int, retryAfter: Double? = nil) -> TransferError {
    var error = TransferError(.httpStatus, "", httpStatus: status)
    error.retryAfter = retryAfter
    return error
  }

  private static let cases: [(TransferError, EntryFailure.Disposition)] = [
    (httpStatus(429, retryAfter: 7), .hostRefused(after: 7)), (httpStatus(429), .hostRefused(after: nil)),
    (httpStatus(503, retryAfter: 7), .hostRefused(after: 7)), (httpStatus(503), .retry(after: nil)),
    (httpStatus(500, retryAfter: 7), .retry(after: 7)), (httpStatus(404), .final),
    (TransferError(.connect, ""), .retry(after: nil)), (TransferError(.tls, ""), .final),
    (TransferError(.io, "", systemError: ENOSPC), .waitForSpace),
    (TransferError(.io, "", systemError: EDQUOT), .waitForSpace),
    (TransferError(.io, "", systemError: EIO), .waitForMachine), (TransferError(.io, "", systemError: EFBIG), .final),
    (TransferError(.io, "", systemError: EIO, isOfSource: true), .retry(after: nil)),
    (TransferError(.fileNotFound, "", systemError: ENOENT, isOfSource: true), .final),
  ]

  @Test(arguments: cases)
  func `what follows from a failed transfer is told by its kind: 429, and 503 that says when, are the host's refusal`(
    error: TransferError, expected: EntryFailure.Disposition
  ) {
    let failure = EntryFailure(error)
    #expect(failure.disposition == expected)
    #expect(failure.httpStatus == error.httpStatus)
    #expect(failure.isRetryable == error.isRetryable, "which is what the report says")
  }

  @Test func `a failure of a shared request names the URL of each entry as it is written, without secrets`() {
    let (one, other) = ("http://a:b@127.0.0.1/x", "HTTP://a:b@127.1/x")
    let failure = EntryFailure(TransferError(.httpStatus, "http://127.0.0.1/x (from http://127.0.0.1/x/y) has failed"))
    let expected = "HTTP://127.1/x (from http://127.0.0.1/x/y) has failed"
    #expect(failure.naming(other, insteadOf: one).message == expected)
    #expect(failure.naming(one, insteadOf: one) == failure)
    let broken = EntryFailure(TransferError(.connect, "http://127.0.0.1/x: Empty reply from server"))
    #expect(broken.naming(other, insteadOf: one).message == "HTTP://127.1/x: Empty reply from server")
    #expect(
      failure.naming("http://127.0.0.1/z", insteadOf: "http://127.0.0.1/x") == failure, "another URL with its cache-key"
    )
  }

  @Test func `want of space is waited out, whatever was being written`() {
    #expect(EntryFailure(SystemError("write", "f", code: ENOSPC)).disposition == .waitForSpace)
    #expect(EntryFailure(SystemError("write", "f", code: EFBIG)).disposition == .final)
    #expect(!EntryFailure(SystemError("write", "f", code: ENOSPC)).isRetryable)
  }

  @Test(arguments: [EIO, EROFS, EACCES, EPERM, EMFILE, ENFILE, ENOMEM, ESTALE, ENOENT])
  func `what the machine has failed is nobody's failure, whatever was being done`(code: Int32) {
    let error = SystemError("open", "f", code: code)
    #expect(EntryFailure(error).disposition == .waitForMachine)
    #expect(EntryFailure(error as any Error, otherwise: .download(.network)).isOfMachine)
    #expect(!EntryFailure(error).isRetryable)
  }

  @Test func `no memory for the source's file is the machine's, and the ledger's errors are those of its file`() {
    #expect(EntryFailure(TransferError(.io, "", systemError: EMFILE, isOfSource: true)).disposition == .waitForMachine)
    #expect(EntryFailure(SQLiteError(code: 778, message: "", path: "l", systemError: EIO)).isOfMachine)
    #expect(!EntryFailure(SQLiteError(code: 11, message: "", path: "l")).isOfMachine)
  }

  @Test func `an error is taken for what it is, and one of no known type has the code of where it happened`() {
    struct Unknown: Error {}
    let failure = EntryFailure(code: .nameConflict, message: "m")
    #expect(EntryFailure(failure, otherwise: .io) == failure)
    #expect(EntryFailure(TransferError(.dns, ""), otherwise: .io).code == .download(.dns))
    #expect(EntryFailure(ImagingError(code: .notAnImage, message: ""), otherwise: .io).code == .filter(.notAnImage))
    #expect(EntryFailure(SystemError("open", "f", code: EIO), otherwise: .download(.network)).code == .io)
    #expect(EntryFailure(Unknown(), otherwise: .filter(.filterFailed)).code == .filter(.filterFailed))
  }

  @Test func `a damaged copy of the cache says nothing of the entry`() {
    #expect(EntryFailure.cache.disposition == .restart)
    #expect(!EntryFailure.cache.isRetryable)
  }
}
