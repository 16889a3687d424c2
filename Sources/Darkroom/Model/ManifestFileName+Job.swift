import Manifests

extension ManifestFileName {
  /// The job's name: the file's without extensions and leading dots; what other systems cannot store is replaced, since the
  /// job's folder has it, with a hash, so that no two names become one job.
  var job: String { PortableName.job(visibleStem) }
}
