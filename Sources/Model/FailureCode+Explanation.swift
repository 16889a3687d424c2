import Imaging
import Transfer

/// Failures that share a remedy.
package struct FailureKind: Sendable, Hashable {
  package let code: String

  /// The server's status; nil unless it answered with one that is the failure.
  package let httpStatus: Int?

  /// - Parameter httpStatus: The server's status; nil when it did not answer. With other codes than `http-status` it is not the failure.
  package init(code: String, httpStatus: Int?) {
    self.code = code
    self.httpStatus = code == TransferError.Code.httpStatus.rawValue ? httpStatus : nil
  }

  package var text: String { code + (httpStatus.map { " (\($0))" } ?? "") }
  package var remedy: String { FailureCode(text: code)?.remedy(httpStatus: httpStatus) ?? "see the report" }
}

extension FailureCode {
  /// Why entries end with a code, and the remedy, for the manual and summaries. Text in backquotes is literal.
  package struct Explanation: Sendable, Equatable {
    package let cause: String
    package let remedy: String

    package var plainRemedy: String { remedy.replacing("`", with: "") }
  }

  /// The codes that reports may contain, in the order of their stages.
  package static let all: [FailureCode] =
    TransferError.Code.allCases.filter { $0 != .io && $0 != .cancelled }.map(FailureCode.download)
    + ImagingError.Code.allCases.filter { $0 != .io && $0 != .cancelled }.map(FailureCode.filter)
    + [.io, .nameConflict, .dependencyFailed]

  /// The remedy for an entry that ended with the code.
  /// - Parameter status: The server's status, if the server answered with an unexpected one.
  package func remedy(httpStatus status: Int?) -> String {
    guard self == .download(.httpStatus), let status else { return explanation.plainRemedy }
    return switch status {
    case 401, 403:
      "the server wants to know who asks: give the entry headers; where the message names the proxy, that refuses the host"
    case 407: "the proxy wants to know who asks: give --proxy, or http_proxy, a user and a password"
    case 404, 410: "the picture is not there: correct the URL, or remove the entry"
    case 429, 503: "the server wants fewer requests: retry later, or --per-host 1"
    case 408, 500...: "the server is in trouble: retry later"
    default: "open the URL in a browser: the answer often says what is wrong"
    }
  }

  package var explanation: Explanation {
    switch self {
    case .download(let code): Self.explanation(of: code)
    case .filter(let code): Self.explanation(of: code)
    case .io:
      Explanation(
        cause: "a source's file could not be read (may be tried again), or a file exceeds a limit of the system",
        remedy: "the message names the file; check the disk, then retry")
    case .nameConflict:
      Explanation(
        cause: "a file has the output's name that this job has not delivered, as far as the ledger knows, or that "
          + "was changed since; it was not changed",
        remedy: "move the file that the message names away, or give the entry another `name`")
    case .dependencyFailed:
      Explanation(
        cause: "an entry that must succeed first (`after`) did not; the message names it, and the one that failed by "
          + "itself if that is another",
        remedy: "mend the entry that it comes `after`; a retry tries both")
    }
  }

  private static func explanation(of code: TransferError.Code) -> Explanation {
    switch code {
    case .io, .cancelled: FailureCode.io.explanation
    case .urlInvalid:
      Explanation(
        cause: "the text, or where it redirects to, is not a URL; or there is none (an empty `url` in a table)",
        remedy: "correct the URL in the manifest")
    case .schemeNotAllowed:
      Explanation(
        cause: "neither http nor https; or a file, and there is no `--file-root`, or a server's list names it",
        remedy: "use an http or https URL; files need `--file-root`, and a server's list cannot name them")
    case .addressNotAllowed:
      Explanation(
        cause:
          "the host has an address that is not public; or the file is outside `--file-root`, or forms may not send it",
        remedy:
          "if you trust it: `--file-root` for a file, `--allow-net` for a host, with the network that the message names"
      )
    case .fileNotFound:
      Explanation(
        cause: "the file is missing, unreadable or no regular file",
        remedy: "correct the path, or who may read the file")
    case .hostNotFound:
      Explanation(cause: "there is no host of this name", remedy: "check the host's name for a typing error")
    case .dns:
      Explanation(
        cause: "the host's name cannot be resolved now",
        remedy:
          "retry later, when name servers answer; where the message names the proxy, check `--proxy` or `http_proxy`")
    case .connect:
      Explanation(cause: "no connection could be made", remedy: "the server does not answer; check it, or retry later")
    case .tls:
      Explanation(
        cause: "the handshake failed, or the certificate is not trusted",
        remedy:
          "check the server's certificate, and the authorities of the system; after \"wrong version number\", use http")
    case .timeout:
      Explanation(
        cause: "connecting, the first byte or the whole transfer took too long, or it was too slow for 15 s",
        remedy:
          "retry later; for slow servers, longer `--timeout`, `--first-byte-timeout` or `--entry-timeout`, or a lower `--low-speed`"
      )
    case .httpStatus:
      Explanation(
        cause: "the answer's status is not 200, or the proxy refuses a tunnel; it is in `http_status`",
        remedy:
          "404 and 410: the picture is gone; 401 and 403: it needs `headers`; 429 and 5xx: retry later, or `--per-host 1`"
      )
    case .tooManyRedirects:
      Explanation(cause: "more than `--max-redirects`", remedy: "give the final URL, or a higher `--max-redirects`")
    case .tooLarge:
      Explanation(
        cause: "more than `--max-bytes`, or headers of more than 256 KiB",
        remedy: "if it is wanted, a higher `--max-bytes`; the limits of headers are fixed")
    case .truncated:
      Explanation(cause: "fewer or more bytes came than were announced", remedy: "the server breaks off; retry later")
    case .network:
      Explanation(
        cause: "any other failure of the connection, such as a reset", remedy: "the connection broke; retry later")
    case .checksumMismatch:
      Explanation(
        cause: "the bytes have another digest than `checksum` demands; both are named",
        remedy: "find out which is right, the picture or the entry's `checksum`")
    }
  }

  private static func explanation(of code: ImagingError.Code) -> Explanation {
    switch code {
    case .io, .cancelled: FailureCode.io.explanation
    case .notAnImage:
      Explanation(
        cause: "the file is empty or something else; the message says what it looks like",
        remedy: "look at the source: it may be empty, or a page that says what is wrong")
    case .unsupportedFormat:
      Explanation(
        cause: "a picture in a format or kind that is not read, such as JPEG XL",
        remedy:
          "if the message names `--isolation process`, use that; else convert it: `darkroom filters` lists what is read"
      )
    case .imageCorrupt:
      Explanation(
        cause: "the picture's data are inconsistent",
        remedy: "get an intact copy; the next run requests it again; `--damaged accept` reads what can be read")
    case .imageTruncated:
      Explanation(
        cause: "the file ends before the picture does; copies (`none` with `keep`) of JPEG, PNG, GIF and BMP are not "
          + "checked for that",
        remedy:
          "get a complete copy; the next run requests all of it again; `--damaged accept` reads what is there")
    case .imageTooLarge:
      Explanation(
        cause: "more than `--max-pixels`, too many scans, sides that the output format cannot hold, or more memory "
          + "than a decoder may have, or than there is: the decoder was killed, by the kernel or by a program such as "
          + "systemd-oomd, even while nothing else was decoded",
        remedy: "if the message names an option, raise it; else choose another `format`, or a smaller picture")
    case .imageTooSmall:
      Explanation(
        cause: "fewer than `--min-pixels`",
        remedy: "look at the source: it is often a placeholder; or a lower `--min-pixels`")
    case .filterFailed:
      Explanation(
        cause: "the picture could be read, but the result not be made",
        remedy: "the message says why; change the entry's `filters` or `format`")
    case .decoderCrashed:
      Explanation(
        cause: "twice, the process that decoded the picture ended, did nothing for a minute, or did what "
          + "no decoder does; or it took more than 30 s and 2 s per megapixel of processor time, or ten times "
          + "that on the clock; or the whole program ended over it four times",
        remedy: "the picture is damaged or malicious: get another copy; the log says more")
    }
  }
}
