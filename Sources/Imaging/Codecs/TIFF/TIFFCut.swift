/// What a copy of a TIFF file leaves out of it.
struct TIFFCut {
  /// A part of the file, and what it becomes: bytes, and zeros up to its end.
  typealias Change = (range: Range<Int64>, bytes: [UInt8])

  /// Directories and values that become shorter, in order, none of which overlaps another or a picture.
  private(set) var changes: [Change] = []
  /// What becomes zeros, in order, between the changes.
  private(set) var blanks: [Range<Int64>] = []
  /// Where the copy ends.
  private(set) var end: Int64 = 0
  private(set) var hasUnreadableMetadata = false
  /// Whether something may be left of what is not kept.
  private(set) var mayKeepMetadata = false

  private let file: TIFFFile
  private let policy: MetadataPolicy
  /// Directories that are kept, and values of their fields, some of which become shorter: `bytes`, and zeros. All up to `end` must
  /// be in the copy.
  private var parts: [(range: Range<Int64>, bytes: [UInt8]?, end: Int64)] = []
  /// What is kept of IPTC, by the place of its values, which several pages may share.
  private var rights: [Range<Int64>: Bool] = [:]
  /// The bytes of IPTC that may still be read, and kept.
  private var unreadRights: Int64
  private var unkeptRights = TIFFCut.maxRights
  /// Compressed pictures.
  private var strips: [Range<Int64>] = []
  /// Where strips begin whose sizes the file does not say.
  private var openStrips: [Int64] = []
  /// The compressed first picture, and the directories of all pages.
  private let pictures: MergedRanges
  /// Values that are not kept.
  private var dropped: [Range<Int64>] = []
  /// Whether the places of all pictures are known.
  private var knowsPlaces = true
  private var seen: Set<Int64>
  private var fieldCount = 0
  /// How many directories deep the current one is in others.
  private var depth = 0

  /// More fields of all directories, and more directories, are an attack.
  private static let maxFields = 1 << 19
  /// The places of more strips are not looked at.
  private static let maxStrips = 1 << 20
  /// Directories in directories; deeper ones are not looked at.
  private static let maxDepth = 8
  /// The most bytes of IPTC in a copy, which are in memory.
  private static let maxRights = 4 * ImageLimits.maxMetadataBytes
  /// Zeros behind the last part that are taken for padding.
  private static let maxPadding: Int64 = 15

  /// - Throws: `image-corrupt`, `image-truncated`, `io`, `cancelled`.
  init(_ container: TIFFContainer, _ policy: MetadataPolicy) throws(ImagingError) {
    (file, self.policy, seen) = (container.file, policy, Set(container.pages))
    // Values that do not overlap have no more bytes than the file.
    unreadRights = file.size
    let header = 0..<Int64(file.isBig ? 16 : 8)
    parts.append((header, nil, header.upperBound))
    // Pages that cannot be read may refer to what is not known.
    if container.damage != nil && policy == .all || container.directory[TIFFTag.jpegOffset] != nil {
      knowsPlaces = false
    }
    let first = container.picture.strips
    var pictures = first.hasSizes ? first.stored : []
    for page in container.pages { pictures.append(try file.place(ofDirectoryAt: page)) }
    self.pictures = MergedRanges(pictures)
    if first.hasSizes { strips = first.stored } else { openStrips = first.stored.map(\.lowerBound) }
    for page in container.pages {
      try sort(try file.directory(at: page), isPicture: true, hasStrips: page == file.first)
    }
    closeStrips()
    forgetOverlapping()
    let last = parts.map(\.end) + strips.map(\.upperBound)
    end = try end(after: min(last.max() ?? 0, file.size))
    let kept = parts.map(\.range) + strips
    blanks = ByteRanges.difference(policy != .all && knowsPlaces ? [0..<end] : dropped, kept)
    changes = parts.compactMap { part in part.bytes.map { (part.range, $0) } }
    if policy != .all { checkWhatIsLeft(kept) }
  }

  /// - Parameter last: The end of the last part.
  private func end(after last: Int64) throws(ImagingError) -> Int64 {
    guard knowsPlaces else { return file.size }
    let padding = try file.bytes(last..<min(last + Self.maxPadding, file.size)).prefix { $0 == 0 }
    return last + Int64(padding.count)
  }

  // MARK: Fields

  /// Sorts the fields of a directory into what is kept and what is not.
  /// - Parameters:
  ///   - isPicture: Whether it is that of a picture.
  ///   - hasStrips: Whether the places of that picture are known already. Default: false.
  private mutating func sort(
    _ directory: TIFFDirectory, isPicture: Bool, hasStrips: Bool = false
  ) throws(ImagingError) {
    try count(directory)
    var fields: [TIFFDirectory.Field] = []
    for field in directory.fields {
      if try hasRights(field, in: directory) {
        // They are a part of the copy, and the field keeps its size.
      } else if isKept(field) {
        if !field.isInside { keep(field.value.clamped(to: 0..<file.size)) }
      } else {
        try drop(field, of: directory)
        continue
      }
      fields.append(field)
    }
    if isPicture, !hasStrips { try addStrips(of: directory) }
    if fields.count < directory.fields.count {
      let (start, bytes) = (directory.place.lowerBound, encoded(fields, directory))
      parts.append((directory.place, bytes, start + Int64(bytes.count)))
    } else {
      keep(directory.place)
    }
    for field in fields { try sortDirectories(of: field, in: directory) }
  }

  /// Sorts the fields of other directories, such as those of smaller versions of a picture.
  private mutating func sortDirectories(
    of field: TIFFDirectory.Field, in directory: TIFFDirectory
  ) throws(ImagingError) {
    let isPicture = field.tag == TIFFTag.subdirectories
    guard isPicture || TIFFTag.directories.contains(field.tag) || [13, 18].contains(field.type) else {
      // Offsets may be in fields that are not known.
      let isUnknown = field.tag >= TIFFTag.firstPrivate && field.tag != TIFFTag.iptc
      if isUnknown, [4, 16].contains(field.type), depth == 0 { knowsPlaces = false }
      return
    }
    guard descend() else {
      knowsPlaces = false
      return
    }
    defer { depth -= 1 }
    for first in try offsets(of: field, in: directory) {
      for offset in try chain(from: first) {
        if let other = try readable({ () throws(ImagingError) in try file.directory(at: offset) }) {
          try sort(other, isPicture: isPicture)
        } else {
          knowsPlaces = false
        }
      }
    }
  }

  /// Goes into the directories of a field; returns false where they are too deep in others.
  private mutating func descend() -> Bool {
    guard depth < Self.maxDepth else {
      hasUnreadableMetadata = hasUnreadableMetadata || policy != .all
      return false
    }
    depth += 1
    return true
  }

  private mutating func count(_ directory: TIFFDirectory) throws(ImagingError) {
    fieldCount += directory.fields.count
    guard fieldCount <= Self.maxFields else { throw .tiff("its pages have more than \(Self.maxFields) fields") }
  }

  private func isKept(_ field: TIFFDirectory.Field) -> Bool {
    let isRight = [TIFFTag.artist, TIFFTag.copyright].contains(field.tag) && field.type == 2
    return policy == .all || TIFFTag.picture.contains(field.tag)
      || isRight && policy == .copyright && field.value.upperBound <= file.size
  }

  /// Whether data sets of IPTC in a field are kept, which become a part.
  private mutating func hasRights(
    _ field: TIFFDirectory.Field, in directory: TIFFDirectory
  ) throws(ImagingError) -> Bool {
    guard policy == .copyright, field.tag == TIFFTag.iptc, !field.isInside, field.value.upperBound <= file.size else {
      return false
    }
    if let known = rights[field.value] { return known }
    rights[field.value] = false
    guard field.value.count <= unreadRights else {
      hasUnreadableMetadata = true
      return false
    }
    unreadRights -= Int64(field.value.count)
    guard let content = try directory.content(of: field), let kept = IPTC.copyrightOnly(content) else { return false }
    guard kept.count <= unkeptRights else {
      hasUnreadableMetadata = true
      return false
    }
    unkeptRights -= kept.count
    rights[field.value] = true
    parts.append((field.value, kept, field.value.upperBound))
    return true
  }

  /// Keeps a range as it is.
  private mutating func keep(_ range: Range<Int64>) { parts.append((range, nil, range.upperBound)) }

  private mutating func drop(_ field: TIFFDirectory.Field, of directory: TIFFDirectory) throws(ImagingError) {
    if !field.isInside { dropped.append(field.value.clamped(to: 0..<file.size)) }
    // Where values of an unknown type end is not known.
    if TIFFDirectory.sizes[field.type] == nil { hasUnreadableMetadata = true }
    let isExif = TIFFTag.directories.contains(field.tag)
    guard isExif || [13, 18].contains(field.type) else { return }
    guard descend() else { return }
    defer { depth -= 1 }
    let offsets = try offsets(of: field, in: directory)
    if isExif, offsets.isEmpty { hasUnreadableMetadata = true }
    for first in offsets {
      for offset in try chain(from: first) {
        guard let other = try readable({ () throws(ImagingError) in try file.directory(at: offset) }) else {
          hasUnreadableMetadata = hasUnreadableMetadata || isExif
          continue
        }
        // What is in kept bytes may be no directory, and its fields would be others once such bytes have changed.
        guard !pictures.overlaps(other.place) else {
          (hasUnreadableMetadata, mayKeepMetadata) = (true, true)
          continue
        }
        try count(other)
        dropped.append(other.place)
        for field in other.fields { try drop(field, of: other) }
      }
    }
  }

  /// The offsets of a directory and of those that follow it, as far as they have not been seen. What follows may be no directory:
  /// some programs leave the offset of the next one out.
  private mutating func chain(from first: Int64) throws(ImagingError) -> [Int64] {
    var (chain, next) = ([Int64](), Optional(first))
    while let offset = next, offset != 0, seen.insert(offset).inserted {
      guard seen.count <= Self.maxFields else { throw .tiff("it has more than \(Self.maxFields) directories") }
      let place = try readable { () throws(ImagingError) in try file.place(ofDirectoryAt: offset) }
      if place != nil || chain.isEmpty { chain.append(offset) }
      next = try place.flatMap { (place) throws(ImagingError) in
        try readable { () throws(ImagingError) in try file.next(after: place) }
      }
    }
    return chain
  }

  private func offsets(
    of field: TIFFDirectory.Field, in directory: TIFFDirectory
  ) throws(ImagingError) -> [Int64] {
    let limit = TIFFFile.maxDirectories
    let numbers = try readable { () throws(ImagingError) in try directory.integers(of: field, limit: limit) }
    return (numbers ?? []).map(Int64.init)
  }

  /// What is read; nil when it is damaged or not there.
  private func readable<Value>(_ read: () throws(ImagingError) -> Value) throws(ImagingError) -> Value? {
    do throws(ImagingError) {
      return try read()
    } catch {
      if error.code == .io || error.code == .cancelled { throw error }
      return nil
    }
  }

  // MARK: Pictures

  /// Where the data of a picture are.
  private mutating func addStrips(of directory: TIFFDirectory) throws(ImagingError) {
    let limit = max(Self.maxStrips - strips.count, 0)
    let compression = try readable { () throws(ImagingError) in try directory.integer(TIFFTag.compression) ?? 1 }
    if compression == 6 || directory[TIFFTag.jpegOffset] != nil { return try addJPEG(of: directory) }
    if compression == TIFFCompression.none.rawValue {
      // Whatever sizes the file says.
      let picture = try readable { () throws(ImagingError) in
        try TIFFPicture(directory, file, limits: ImageLimits(maxPixels: .max), dividesStrips: false)
      }
      if let places = picture?.strips.stored, places.count <= limit {
        strips += places
        return
      }
    }
    var places: [Range<Int64>]?
    for tags in [
      (TIFFTag.stripOffsets, TIFFTag.stripByteCounts), (TIFFTag.tileOffsets, TIFFTag.tileByteCounts),
      (TIFFTag.stripOffsets, TIFFTag.tileByteCounts),
    ] where places == nil {
      let numbers = try readable { () throws(ImagingError) in
        (try directory.integers(tags.0, limit: limit) ?? [], try directory.integers(tags.1, limit: limit) ?? [])
      }
      guard let (offsets, sizes) = numbers, offsets.count == sizes.count, !sizes.isEmpty, sizes.count < limit else {
        continue
      }
      places = zip(offsets, sizes).map { Int64($0)..<(Int64($0) + Int64($1)) }
    }
    strips += places ?? []
    if places == nil || compression == TIFFCompression.none.rawValue { knowsPlaces = false }
  }

  /// JPEG of TIFF 5 is a stream, or in several places.
  private mutating func addJPEG(of directory: TIFFDirectory) throws(ImagingError) {
    let place = try readable { () throws(ImagingError) in
      (try directory.integer(TIFFTag.jpegOffset), try directory.integer(TIFFTag.jpegLength))
    }
    guard case (let offset?, let length?)? = place, TIFFTag.partsOfJPEG.allSatisfy({ directory[$0] == nil }) else {
      knowsPlaces = false
      return
    }
    strips.append(Int64(offset)..<(Int64(offset) + Int64(length)))
  }

  /// Ends strips of unknown sizes where something else begins.
  private mutating func closeStrips() {
    for start in openStrips {
      let starts = (parts.lazy.map(\.range) + strips + dropped).lazy.map(\.lowerBound).filter { $0 > start }
      strips.append(start..<max(starts.min() ?? file.size, start))
    }
  }

  // MARK: Changes

  /// A directory with fewer fields.
  private func encoded(_ fields: [TIFFDirectory.Field], _ directory: TIFFDirectory) -> [UInt8] {
    var bytes = file.encoded(max(fields.count, 1), file.countBytes)
    for field in fields { bytes += field.bytes }
    // There is at least one field: the kind of the page, which is none.
    if fields.isEmpty {
      bytes += file.encoded(TIFFTag.subfileType, 2) + file.encoded(4, 2) + file.encoded(1, file.offsetBytes)
      bytes += [UInt8](repeating: 0, count: file.offsetBytes)
    }
    return bytes + directory.next
  }

  /// Gives up changes of parts that overlap others, or pictures, which would change, too.
  private mutating func forgetOverlapping() {
    parts = parts.filter { !$0.range.isEmpty }.sorted { $0.range.lowerBound < $1.range.lowerBound }
    var last = 0
    for index in parts.indices.dropFirst() {
      if parts[index].range.lowerBound < parts[last].range.upperBound {
        for part in [index, last] where parts[part].bytes != nil { forgetChange(of: part) }
      }
      if parts[index].range.upperBound > parts[last].range.upperBound { last = index }
    }
    let changed = parts.indices.filter { parts[$0].bytes != nil }
    let free = Set(ByteRanges.difference(changed.map { parts[$0].range }, strips))
    for part in changed where !free.contains(parts[part].range) { forgetChange(of: part) }
  }

  private mutating func forgetChange(of part: Int) {
    (parts[part].bytes, parts[part].end) = (nil, parts[part].range.upperBound)
    (hasUnreadableMetadata, mayKeepMetadata) = (true, true)
  }

  /// Finds out whether there may be metadata where a picture is, or where nothing is that is known.
  private mutating func checkWhatIsLeft(_ kept: [Range<Int64>]) {
    let bytes = { (ranges: [Range<Int64>]) in ranges.reduce(0) { $0 + $1.count } }
    if bytes(ByteRanges.difference(dropped, strips)) < bytes(ByteRanges.difference(dropped, [])) {
      mayKeepMetadata = true
    }
    guard !knowsPlaces else { return }
    let unknown = ByteRanges.difference([0..<file.size], kept + dropped)
    if unknown.contains(where: { $0.count > Self.maxPadding }) { mayKeepMetadata = true }
  }
}

/// Ranges of a file's bytes.
enum ByteRanges {
  /// The parts of some ranges that are in none of others, in order.
  static func difference(_ ranges: [Range<Int64>], _ others: [Range<Int64>]) -> [Range<Int64>] {
    let others = others.sorted { $0.lowerBound < $1.lowerBound }
    var (result, start, next, covered) = ([Range<Int64>](), Int64(0), 0, Int64(0))
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      start = max(start, range.lowerBound)
      while start < range.upperBound {
        while next < others.count, others[next].lowerBound <= start {
          covered = max(covered, others[next].upperBound)
          next += 1
        }
        start = max(start, covered)
        let end = min(range.upperBound, next < others.count ? others[next].lowerBound : range.upperBound)
        guard start < end else { continue }
        result.append(start..<end)
        start = end
      }
    }
    return result
  }
}

/// Ranges of a file's bytes in which others are looked up, each in the time of a binary search.
struct MergedRanges {
  /// In order, none of them empty, and with bytes between them.
  private var ranges: [Range<Int64>] = []

  init(_ ranges: [Range<Int64>]) {
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = self.ranges.last, last.upperBound >= range.lowerBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  /// Whether a range has a byte of these.
  func overlaps(_ range: Range<Int64>) -> Bool {
    // The first that does not end before the range.
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].overlaps(range)
  }
}
