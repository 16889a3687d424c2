import Database
import Glibc
import Imaging
import Inbox
import JSON
import Ledger
import Model
import Operations
import Sandbox
import System
import Transfer

/// Checks an installation, for `darkroom doctor`: folders, file systems, libraries, the kernel's features, addresses, the
/// clock. It leaves nothing behind, changes nothing, and works beside a running instance.
package struct Doctor {
  let configuration: Configuration

  /// - Parameter configuration: With its folders resolved, see `newFolders`.
  package init(configuration: Configuration) { self.configuration = configuration }

  /// Reports the findings one by one: some checks wait for a disk or for name servers.
  package func examine(_ report: (Finding) -> Void) {
    report(Finding("version", "darkroom \(Tool.version)"))
    report(Self.libraries)
    for finding in Self.missingLibraries { report(finding) }
    for finding in folders() { report(finding) }
    for finding in ledger { report(finding) }
    report(instance)
    for finding in [isolation, memory, descriptors, clock] { report(finding) }
    report(addresses)
    if let problem = configuration.transfer.certificateProblem {
      report(
        Finding(
          .failed, "certificates", problem, remedy: "correct the variable, or unset it: then the system's are used"))
    }
    if TransferLibraries.trouble == nil { for finding in hosts() { report(finding) } }
  }

  private static var libraries: Finding {
    let all =
      (TransferLibraries.trouble == nil ? TransferLibraries.versions : []) + CodecLibraries.versions
      + CodecLibraries.optional.filter(\.isLoaded).map { ($0.name, $0.version) } + [("sqlite", Database.libraryVersion)]
    let text = all.map { $0.version.isEmpty ? $0.name : $0.name + " " + $0.version }.joined(separator: ", ")
    return Finding("libraries", text)
  }

  /// Libraries without which nothing is downloaded, or some formats are not read.
  private static var missingLibraries: [Finding] {
    let transfers = TransferLibraries.trouble.map { why in
      Finding(.failed, "libraries", "no URL can be downloaded: \(why)", remedy: "install it (Debian: libcurl4)")
    }
    return [transfers].compactMap { $0 }
      + ImageFormat.allCases.compactMap { format in
        guard let library = format.library, !library.isLoaded else { return nil }
        return Finding(
          .warning, "libraries", "\(library.name) is not installed: \(format.displayName) is not read",
          remedy: "install it (Debian: \(library.package)), unless there are no such pictures")
      }
  }

  /// The instance that owns the inbox.
  private var instance: Finding {
    if case .nobody(let process, let why) = InboxReader(inbox: configuration.inbox, configuration) {
      return Finding(
        .failed, "instance", "process \(process) works on the outbox, but cannot read the inbox: \(why)",
        remedy: "put the inbox back, or restart the process")
    }
    do {
      let process = try InstanceLock.holder(file: Inbox.instanceFile, beneath: configuration.inbox)
      return Finding("instance", process.map { "process \($0) works in the inbox" } ?? "none is running")
    } catch {
      return Finding(
        .warning, "instance", "whether one is running is unknown: \(error)",
        remedy: "call doctor as the user that runs darkroom; \"darkroom status\" works for others")
    }
  }

  /// The ledger, unless there is none yet. An instance has it open.
  private var ledger: [Finding] {
    let path = StateFolder(path: configuration.state).ledger
    guard access(path, F_OK) == 0 else { return [] }
    do {
      switch try LedgerReader.liveJobs(path: path) {
      case .jobs(let jobs): return [Finding("ledger", "\(path): \(jobs.count.of("open job", "open jobs"))")]
      case .unknown(let why): return [Finding("ledger", "\(path) cannot be read now: \(why)")]
      }
    } catch let error as LedgerError {
      return [Finding(.failed, "ledger", "\(error)", remedy: "install the version that wrote it, or restore a backup")]
    } catch {
      return [
        Finding(
          .warning, "ledger", "\(path) cannot be read: \(error)",
          remedy: "call doctor as the user that runs darkroom; the next start sets a damaged ledger aside")
      ]
    }
  }

  // MARK: The kernel

  /// Starts a worker as for a picture.
  private var isolation: Finding {
    let pool = DecodingPool(configuration)
    defer { pool.close() }
    guard pool.hasWorkers else {
      return Finding(
        .warning, "isolation", "pictures are decoded by the program itself, which nothing confines",
        remedy: "leave out --isolation none, unless all pictures are your own")
    }
    do {
      let measures = try pool.examine().names
      let missing = ["seccomp", "landlock", "no-new-privs"].filter { !measures.contains($0) }
      let text = "workers that decode pictures are confined by " + measures.joined(separator: ", ")
      if missing.isEmpty { return Finding("isolation", text) }
      guard !Confinement.isSanitized else {
        return Finding(.warning, "isolation", "workers of a program with a sanitizer are not confined")
      }
      let remedy = "a kernel from 5.13 on has all of them; a container's or service's own filter may hide them"
      guard missing.contains("seccomp") else {
        return Finding(.warning, "isolation", text + ", without " + missing.joined(separator: ", "), remedy: remedy)
      }
      return Finding(.failed, "isolation", "workers are not confined by seccomp", remedy: remedy)
    } catch {
      return Finding(
        .failed, "isolation", "no worker could be started: \(error)",
        remedy: "allow the user more processes (ulimit -u) and memory (ulimit -v, the service's MemoryMax)")
    }
  }

  private var memory: Finding {
    let budget = MemoryBudget(available: MemoryBudget.available, workers: configuration.filtrations)
    let text =
      "\(ByteCount(MemoryBudget.available)) available; \(configuration.filtrations.of("filtration", "filtrations")) at "
      + "once, which share \(ByteCount(budget.shared)) for whole pictures"
    guard MemoryBudget.available < 512 << 20 else { return Finding("memory", text) }
    return Finding(
      .warning, "memory", text, remedy: "large pictures may fail: give it more memory, or lower --filtrations")
  }

  /// The number of files and connections that may be open at once.
  private var descriptors: Finding {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let text = limit.rlim_max == rlim_t.max ? "without limit" : "at most \(limit.rlim_max)"
    guard limit.rlim_max >= DescriptorLimit.least else {
      return Finding(
        .failed, "descriptors", text + " open files and connections: \(DescriptorLimit.least) are needed",
        remedy: "raise the hard limit (ulimit -Hn, LimitNOFILE) to 4096")
    }
    guard limit.rlim_max < 1024 else { return Finding("descriptors", text + " open files and connections") }
    return Finding(
      .warning, "descriptors", text + " open files and connections: fewer downloads run at once",
      remedy: "raise the hard limit (ulimit -Hn, LimitNOFILE) to 4096")
  }

  /// Whether the kernel's clock is set by a time server: certificates, `Retry-After` and the cache depend on it.
  private var clock: Finding {
    let now = JSONValue.time(Clock.wallMilliseconds).string ?? ""
    guard Clock.isSetByServer else {
      return Finding(
        .warning, "clock", "it is \(now); nothing says that a time server sets the clock",
        remedy: "install chrony or systemd-timesyncd, unless the host sets the clock")
    }
    return Finding("clock", "it is \(now), set by a time server")
  }

  // MARK: Addresses

  private var addresses: Finding {
    let allowed = configuration.transfer.addressPolicy.allowedNetworks.map(\.description)
    guard !allowed.isEmpty else {
      return Finding("addresses", "only public addresses are allowed; --allow-net allows others, such as 10.0.0.0/8")
    }
    return Finding("addresses", "public addresses are allowed, and " + allowed.joined(separator: ", "))
  }

  /// Whether the hosts that rules name can be asked.
  private func hosts() -> [Finding] {
    let (policy, proxies) = (configuration.transfer.addressPolicy, configuration.transfer.proxies)
    // A proxy looks names up itself.
    let names = configuration.hosts.names.filter { proxies.proxy(forScheme: "https", host: $0) == nil }
    return names.map { name in
      switch HostCheck(name, policy: policy) {
      case .allowed(let addresses): Finding("host", "\(name) has the address \(addresses)")
      case .refused(let why):
        Finding(.failed, "host", "\(name), which a rule names, would be refused: \(why)", remedy: "allow its network")
      case .unknown(let why):
        Finding(
          .warning, "host", "\(name), which a rule names, is not found: \(why)",
          remedy: "correct the rule, or the name servers in /etc/resolv.conf")
      }
    }
  }
}
