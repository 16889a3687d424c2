import Imaging
import Transfer

extension FailureCode {
  /// Why entries end with a code, and what helps: for the manual, and for who reads a summary. What is in backquotes is
  /// literal.
  package struct Explanation: Sendable, Equatable {
    package let cause: String
    package let remedy: String
  }

  /// The codes that reports may have, in the order of their stages.
  package static let all: [FailureCode] =
    TransferError.Code.allCases.filter { $0 != .io && $0 != .cancelled }.map(FailureCode.download)
    + ImagingError.Code.allCases.filter { $0 != .io && $0 != .cancelled }.map(FailureCode.filter)
    + [.io, .nameConflict, .dependencyFailed]

  package var explanation: Explanation {
    switch self {
    case .download(let code): Self.explanation(of: code)
    case .filter(let code): Self.explanation(of: code)
    case .io:
      Explanation(
        cause: "a source's file could not be read (may be tried again), or a file exceeds a limit of the system",
        remedy: "see the message; check the disk")
    case .nameConflict:
      Explanation(
        cause: "a file has the output's name that this job has not delivered, as far as the ledger knows, or that "
          + "was changed since; it was not changed",
        remedy: "move it away, or choose another `name`")
    case .dependencyFailed:
      Explanation(
        cause: "an entry that must succeed first (`after`) did not; the message names it, and the one that failed by "
          + "itself if that is another",
        remedy: "see that entry's row; the job's next run tries both again")
    }
  }

  private static func explanation(of code: TransferError.Code) -> Explanation {
    switch code {
    case .io, .cancelled: FailureCode.io.explanation
    case .urlInvalid:
      Explanation(
        cause: "the text, or where it redirects to, is not a URL",
        remedy: "correct it")
    case .schemeNotAllowed:
      Explanation(
        cause: "neither http nor https; or a file, and there is no `--file-root`",
        remedy: "give `--file-root`, or another URL")
    case .addressNotAllowed:
      Explanation(
        cause: "the host has an address that is not public; or the file is outside `--file-root`",
        remedy: "`--allow-net`, with the network that the message names, if you trust it")
    case .fileNotFound:
      Explanation(
        cause: "the file is missing, unreadable or no regular file",
        remedy: "correct the path")
    case .hostNotFound:
      Explanation(
        cause: "there is no host of this name",
        remedy: "check the name")
    case .dns:
      Explanation(
        cause: "the host's name cannot be resolved now",
        remedy: "retryable")
    case .connect:
      Explanation(
        cause: "no connection could be made",
        remedy: "check the server; retryable")
    case .tls:
      Explanation(
        cause: "the handshake failed, or the certificate is not trusted",
        remedy: "check the certificate and the list of authorities")
    case .timeout:
      Explanation(
        cause: "connecting, the first byte or the whole transfer took too long, or it was too slow for 15 s",
        remedy: "retryable; `--connect-timeout`, `--first-byte-timeout`, `--timeout`, `--low-speed`")
    case .httpStatus:
      Explanation(
        cause: "the answer's status is not 200; it is in `http_status`",
        remedy: "retryable with 408, 425, 429, 500, 502, 503, 504")
    case .tooManyRedirects:
      Explanation(
        cause: "more than `--max-redirects`",
        remedy: "give the final URL")
    case .tooLarge:
      Explanation(
        cause: "more than `--max-bytes`, or headers of more than 256 KiB",
        remedy: "`--max-bytes`")
    case .truncated:
      Explanation(
        cause: "fewer or more bytes came than were announced",
        remedy: "retryable")
    case .network:
      Explanation(
        cause: "any other failure of the connection, such as a reset",
        remedy: "retryable")
    case .checksumMismatch:
      Explanation(
        cause: "the bytes have another digest than `checksum` demands; both are named",
        remedy: "find out which of them is right")
    }
  }

  private static func explanation(of code: ImagingError.Code) -> Explanation {
    switch code {
    case .io, .cancelled: FailureCode.io.explanation
    case .notAnImage:
      Explanation(
        cause: "the file is empty or something else; the message says what it looks like",
        remedy: "often an error page: look at the URL")
    case .unsupportedFormat:
      Explanation(
        cause: "a picture in a format or kind that is not read, such as GIF or TIFF",
        remedy: "convert it")
    case .imageCorrupt:
      Explanation(
        cause: "the picture's data are inconsistent",
        remedy: "get an intact copy")
    case .imageTruncated:
      Explanation(
        cause: "the file ends before the picture does; found when a picture is decoded, not when it is copied "
          + "(`none` with `keep`)",
        remedy: "get a complete copy")
    case .imageTooLarge:
      Explanation(
        cause: "more than `--max-pixels`, too many scans, sides that the output format cannot hold, or more memory "
          + "than a decoder may have, or than there is: the kernel killed the decoder even while nothing else was "
          + "decoded",
        remedy: "`--max-pixels`; another `format`; a larger memory limit of the service or container")
    case .imageTooSmall:
      Explanation(
        cause: "fewer than `--min-pixels`",
        remedy: "often a placeholder: look at the URL; or `--min-pixels`")
    case .filterFailed:
      Explanation(
        cause: "the picture could be read, but the result not be made",
        remedy: "see the message")
    case .decoderCrashed:
      Explanation(
        cause: "twice, the process that decoded the picture ended, did nothing for a minute, was killed, or did what "
          + "no decoder does; or it took more than 30 s and 2 s per megapixel of processor time, or ten times "
          + "that on the clock; or the whole program ended over it four times",
        remedy: "the picture is damaged or malicious; the log says more")
    }
  }
}
