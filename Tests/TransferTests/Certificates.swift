import Foundation
import TestSupport

/// Certificates for 127.0.0.1, made by `openssl` once for all tests: one signed by a private authority, and some with a flaw.
struct Certificates {
  enum Flaw: String, CaseIterable { case none, expired, wrongHost, selfSigned }

  private let folder: TemporaryFolder

  /// The authority's own certificate.
  var authority: String { folder.file("authority.pem") }

  private static let all = Shared { try Certificates() }

  static var shared: Certificates { get throws { try all.value } }

  private init() throws {
    folder = try TemporaryFolder()
    try "subjectAltName=IP:127.0.0.1\n".write(toFile: folder.file("own.ext"), atomically: false, encoding: .utf8)
    try "subjectAltName=DNS:other.example\n".write(toFile: folder.file("other.ext"), atomically: false, encoding: .utf8)
    try "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n[p]\n"
      .write(
        toFile: folder.file("ca.conf"), atomically: false, encoding: .utf8)
    try "".write(toFile: folder.file("index"), atomically: false, encoding: .utf8)
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try openssl(["req", "-x509", "-subj", "/CN=authority", "-keyout", "authority.key", "-out", "authority.pem"] + key)
    try openssl(
      ["req", "-x509", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", "selfSigned.key", "-out", "selfSigned.pem"] + key)
    for (flaw, names, dates) in [
      (Flaw.none, "own.ext", ["-days", "2"]), (.wrongHost, "other.ext", ["-days", "2"]),
      (.expired, "own.ext", ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"]),
    ] {
      let name = flaw.rawValue
      try openssl(["req", "-new", "-subj", "/CN=\(name)", "-keyout", "\(name).key", "-out", "\(name).csr"] + key)
      try openssl(
        ["ca", "-batch", "-notext", "-config", "ca.conf", "-rand_serial", "-cert", "authority.pem"]
          + ["-keyfile", "authority.key", "-extfile", names, "-in", "\(name).csr", "-out", "\(name).pem"] + dates)
    }
  }

  /// What nginx needs to serve TLS with a certificate, and HTTP/2.
  func directives(_ flaw: Flaw, port: Int) -> String {
    """
    listen 127.0.0.1:\(port) ssl http2;
    ssl_certificate \(folder.file(flaw.rawValue)).pem;
    ssl_certificate_key \(folder.file(flaw.rawValue)).key;
    """
  }

  /// The files of a certificate and its key.
  func files(_ flaw: Flaw) -> [String] { [folder.file(flaw.rawValue + ".pem"), folder.file(flaw.rawValue + ".key")] }

  private func openssl(_ arguments: [String]) throws {
    let status = try SpawnedProcess.run("/usr/bin/openssl", arguments, in: folder.path, errors: .null)
    if status != 0 { throw Failure(arguments: arguments) }
  }

  /// `openssl` refused.
  struct Failure: Error {
    let arguments: [String]
  }
}
