import Manifests
import Transfer

/// Problems and warnings without secrets. Keys and names may be URLs with passwords.
extension ManifestProblem {
  var redacted: ManifestProblem {
    ManifestProblem(code, SourceLocation.redacted(message: message), at: location.redacted)
  }
}

extension ManifestWarning {
  var redacted: ManifestWarning {
    ManifestWarning(
      code, SourceLocation.redacted(message: message), at: location.redacted, concernsSecrets: concernsSecrets)
  }
}

extension ManifestProblem.Location {
  fileprivate var redacted: ManifestProblem.Location {
    switch self {
    case .file, .line: self
    case .keyPath(let path): .keyPath(path.map { SourceLocation.redacted(name: $0) })
    case .field(let field, let line): .field(SourceLocation.redacted(name: field), line: line)
    case .source(let location): .source(location.redacted)
    }
  }
}
