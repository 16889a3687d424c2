import Darkroom
import Imaging
import Transfer

extension FailureCode {
  /// What can be done about it, in a line; `Documentation/report.md` says more.
  var remedy: String {
    switch self {
    case .download(let code): code.remedy
    case .filter(let code): code.remedy
    case .io: "the message names the file; check the disk, then retry"
    case .nameConflict: "move that file out of the job's images folder, or give the entry another \"name\""
    case .dependencyFailed: "mend the entry that it comes \"after\"; a retry tries both"
    }
  }
}

extension TransferError.Code {
  fileprivate var remedy: String {
    switch self {
    case .urlInvalid: "correct the URL in the manifest"
    case .schemeNotAllowed: "use an http or https URL; for files, --file-root DIR says where they may lie"
    case .addressNotAllowed: "if you trust the host, --allow-net with its network; files must lie beneath --file-root"
    case .fileNotFound: "correct the path, or who may read the file"
    case .hostNotFound: "check the host's name for a typing error"
    case .dns: "the name server does not answer now; retry later"
    case .connect: "the server does not answer; check it, or retry later"
    case .tls: "check the server's certificate; an authority of your own belongs to those of the system"
    case .timeout: "retry later; for slow servers, longer --timeout, --first-byte-timeout or a lower --low-speed"
    case .httpStatus:
      "404 and 410: the picture is gone; 401 and 403: it needs \"headers\"; 429 and 5xx: retry later, or --per-host 1"
    case .tooManyRedirects: "give the final URL, or a higher --max-redirects"
    case .tooLarge: "if it is wanted, a higher --max-bytes"
    case .truncated: "the server breaks off; retry later"
    case .checksumMismatch: "find out which is right, the picture or the entry's \"checksum\""
    case .network: "the connection broke; retry later"
    case .io: FailureCode.io.remedy
    case .cancelled: "retry"
    }
  }
}

extension ImagingError.Code {
  fileprivate var remedy: String {
    switch self {
    case .notAnImage: "open the URL in a browser: it is often a page that says what is wrong"
    case .unsupportedFormat: "give the URL of a JPEG, PNG or WebP picture, or convert it before"
    case .imageCorrupt, .imageTruncated: "get an intact copy; if the server broke off, retry"
    case .imageTooLarge: "if it is wanted, a higher --max-pixels or more memory; for its sides, another --format"
    case .imageTooSmall: "often a placeholder: open the URL in a browser; or a lower --min-pixels"
    case .filterFailed: "the message says why; change the entry's \"filters\" or \"format\""
    case .decoderCrashed: "the picture is damaged or malicious: get another copy; the log says more"
    case .io: FailureCode.io.remedy
    case .cancelled: "retry"
    }
  }
}
