import Manifests

extension ManifestFileName {
  /// The job's name: the file's without extensions and leading dots; what other systems cannot store is replaced, since the
  /// job's folder has it.
  var job: String { PortableName.replacing(visibleStem) }
}
