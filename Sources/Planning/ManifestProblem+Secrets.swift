import Manifests
import System
import Transfer

/// Problems and warnings without secrets, and shortened: keys and names may be URLs with passwords, and of any length. What is cut
/// first may be no URL any more in which a password is found.
extension ManifestProblem {
  var redacted: ManifestProblem {
    ManifestProblem(code, SourceLocation.redacted(message: message).shortened(), at: location.redacted)
  }
}

extension ManifestWarning {
  var redacted: ManifestWarning {
    ManifestWarning(
      code, SourceLocation.redacted(message: message).shortened(), at: location.redacted,
      concernsSecrets: concernsSecrets)
  }
}

extension ManifestProblem.Location {
  fileprivate var redacted: ManifestProblem.Location {
    switch self {
    case .file, .line: self
    case .keyPath(let path): .keyPath(path.map(Self.shown))
    case .field(let field, let line): .field(Self.shown(field), line: line)
    case .source(let location): .source(location.redacted)
    }
  }

  private static func shown(_ key: String) -> String { SourceLocation.redacted(name: key).shortened(to: 200) }
}
