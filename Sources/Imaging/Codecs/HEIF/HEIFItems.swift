/// The items of a HEIF file, from its `meta` box (ISO/IEC 14496-12 § 8.11, 23008-12): coded pictures, grids of them, and
/// metadata, with their properties. What could be read in two ways is an error: libheif, which reads it again, must not see
/// something else than has been checked.
struct HEIFItems {
  struct Item {
    /// `hvc1`, `av01`, `grid`, `Exif`, `mime`…
    let type: String
    /// Of items of the type `mime`, else empty.
    let contentType: String
    /// Where its type, and its name with all that follows, are in the file.
    let typeRange, textRange: Range<Int64>
    /// Where its data are in the file.
    var extents: [Range<Int64>] = []
    /// Its properties, in the order in which they apply; the first one has the index 1.
    var properties: [Int] = []
  }

  private(set) var primary: Int?
  private(set) var items: [Int: Item] = [:]
  /// Boxes of the file that are no part of a picture.
  private(set) var others: [HEIFBox] = []
  /// The content of the `idat` box in the file, in which items may have their data.
  private(set) var itemData: Range<Int64>?

  private let offset: Int64
  private var properties: [(box: HEIFBox, content: HEIFReader)] = []
  /// The items that an item refers to, and those that refer to it, by the kind of the reference.
  private var targets: [String: [Int: [Int]]] = [:]
  private var sources: [String: [Int: Set<Int>]] = [:]

  /// The largest numbers that are read. More are an attack.
  private static let (maxItems, maxParts) = (20_000, 40_000)
  private static let boxes: Set = ["pitm", "iinf", "iloc", "iref", "iprp", "idat"]
  private static let otherPictureBoxes: Set = ["hdlr", "dinf", "grpl", "ipro"]
  /// Properties that are texts, and dates.
  private static let textProperties: Set = ["udes", "altt", "crtt", "mdft"]

  /// - Parameters:
  ///   - content: The content of the `meta` box, after its version and flags.
  ///   - offset: The offset of the slice's index 0 in the file.
  /// - Throws: `image-corrupt`.
  init(_ content: HEIFReader, at offset: Int64) throws(ImagingError) {
    self.offset = offset
    var (content, found) = (content, [String: HEIFReader]())
    while let next = try content.box() {
      if Self.boxes.contains(next.box.type) {
        guard found.updateValue(next.content, forKey: next.box.type) == nil else { throw .repeated(next.box.type) }
      } else if !Self.otherPictureBoxes.contains(next.box.type) {
        others.append(next.box.moved(by: offset))
      }
    }
    if let box = found["pitm"] { primary = try Self.primary(box) }
    if let box = found["iinf"] { try readInformation(box) }
    if let box = found["iref"] { try readReferences(box) }
    if let box = found["iprp"] { try readProperties(box) }
    itemData = found["idat"].map { fileRange($0.rest) }
    if let box = found["iloc"] { try readLocations(box) }
  }

  /// The values of an item's properties of a type, in order.
  func properties(_ type: String, of item: Item) -> [HEIFReader] {
    properties(of: item).filter { $0.type == type }.map(\.content)
  }

  /// An item's properties, in order.
  func properties(of item: Item) -> [(type: String, content: HEIFReader)] {
    item.properties.compactMap { index in
      properties.indices.contains(index - 1) ? (properties[index - 1].box.type, properties[index - 1].content) : nil
    }
  }

  /// The items that refer to an item.
  func sources(_ type: String, to item: Int) -> Set<Int> { sources[type]?[item] ?? [] }

  /// The items that an item refers to.
  func targets(_ type: String, of item: Int) -> [Int] { targets[type]?[item] ?? [] }

  /// The items that refer to others.
  func references(_ type: String) -> [Int: [Int]] { targets[type] ?? [:] }

  private func fileRange(_ bytes: ArraySlice<UInt8>) -> Range<Int64> {
    (offset + Int64(bytes.startIndex))..<(offset + Int64(bytes.endIndex))
  }

  // MARK: Boxes

  private static func primary(_ content: HEIFReader) throws(ImagingError) -> Int {
    var content = content
    guard let (version, _) = content.versionAndFlags(), let item = content.integer(version == 0 ? 2 : 4) else {
      throw .short("pitm")
    }
    return item
  }

  private mutating func readInformation(_ content: HEIFReader) throws(ImagingError) {
    var content = content
    guard let (version, _) = content.versionAndFlags(), content.integer(version == 0 ? 2 : 4) != nil else {
      throw .short("iinf")
    }
    while var entry = try content.box()?.content {
      guard let (version, _) = entry.versionAndFlags(), let number = entry.integer(version < 3 ? 2 : 4),
        entry.integer(2) != nil, let type = entry.bytes(4)
      else { throw .short("infe") }
      guard version >= 2 else { throw .heif("an item has no type") }
      let texts = entry.rest
      _ = entry.text()
      let name = String(decoding: type, as: UTF8.self)
      let item = Item(
        type: name, contentType: name == "mime" ? entry.text() : "", typeRange: fileRange(type),
        textRange: fileRange(texts))
      guard items.updateValue(item, forKey: number) == nil else { throw .repeated("infe") }
      guard items.count <= Self.maxItems else { throw .heif("it has more than \(Self.maxItems) items") }
    }
  }

  private mutating func readReferences(_ content: HEIFReader) throws(ImagingError) {
    var (content, count) = (content, 0)
    guard let (version, _) = content.versionAndFlags() else { throw .short("iref") }
    let bytes = version == 0 ? 2 : 4
    while let (box, start) = try content.box() {
      var reader = start
      guard let from = reader.integer(bytes), let amount = reader.integer(2) else { throw .short("iref") }
      count += amount + 1
      guard count <= Self.maxParts else { throw .heif("it has more than \(Self.maxParts) references") }
      var to: [Int] = []
      for _ in 0..<amount {
        guard let item = reader.integer(bytes) else { throw .short("iref") }
        to.append(item)
        sources[box.type, default: [:]][item, default: []].insert(from)
      }
      guard targets[box.type, default: [:]].updateValue(to, forKey: from) == nil else { throw .repeated(box.type) }
    }
  }

  private mutating func readProperties(_ content: HEIFReader) throws(ImagingError) {
    var (content, list, associations) = (content, HEIFReader?.none, [HEIFReader]())
    while let (box, reader) = try content.box() {
      switch box.type {
      case "ipco":
        guard list == nil else { throw .repeated("ipco") }
        list = reader
      case "ipma": associations.append(reader)
      default: others.append(box.moved(by: offset))
      }
    }
    while let property = try list?.box() {
      properties.append(property)
      if Self.textProperties.contains(property.box.type) { others.append(property.box.moved(by: offset)) }
      guard properties.count <= Self.maxParts else { throw .heif("it has more than \(Self.maxParts) properties") }
    }
    var known = Set<Int>()
    for association in associations { try readAssociations(association, &known) }
  }

  private mutating func readAssociations(_ content: HEIFReader, _ known: inout Set<Int>) throws(ImagingError) {
    var content = content
    guard let (version, flags) = content.versionAndFlags(), let entries = content.integer(4) else {
      throw .short("ipma")
    }
    for _ in 0..<entries {
      guard let number = content.integer(version < 1 ? 2 : 4), let amount = content.integer(1) else {
        throw .short("ipma")
      }
      guard known.insert(number).inserted else { throw .repeated("ipma") }
      for _ in 0..<amount {
        guard let index = content.integer(flags & 1 == 0 ? 1 : 2) else { throw .short("ipma") }
        // The highest bit says whether readers have to know the property.
        items[number]?.properties.append(index & (flags & 1 == 0 ? 0x7F : 0x7FFF))
      }
    }
  }

  private mutating func readLocations(_ content: HEIFReader) throws(ImagingError) {
    var (content, parts, known) = (content, 0, Set<Int>())
    guard let (version, _) = content.versionAndFlags(), let sizes = content.integer(2),
      let count = content.integer(version < 2 ? 2 : 4)
    else { throw .short("iloc") }
    let (offsetBytes, lengthBytes, baseBytes) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
    let indexBytes = version == 0 ? 0 : sizes & 15
    guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy({ [0, 4, 8].contains($0) }) else {
      throw .heif("its offsets are of a size that there is not")
    }
    for _ in 0..<count {
      guard let number = content.integer(version < 2 ? 2 : 4),
        let method = version == 0 ? 0 : content.integer(2), content.integer(2) != nil,
        let base = content.integer(baseBytes), let amount = content.integer(2)
      else { throw .short("iloc") }
      guard known.insert(number).inserted else { throw .repeated("iloc") }
      parts += amount
      guard parts <= Self.maxParts else { throw .heif("its items have more than \(Self.maxParts) parts") }
      for _ in 0..<amount {
        guard content.integer(indexBytes) != nil, let offset = content.integer(offsetBytes),
          let length = content.integer(lengthBytes)
        else { throw .short("iloc") }
        let extent = try extent(base, offset, length, method: method & 15)
        items[number]?.extents.append(extent)
      }
    }
  }

  private func extent(_ base: Int, _ offset: Int, _ length: Int, method: Int) throws(ImagingError) -> Range<Int64> {
    guard method == 0 || method == 1 && itemData != nil else { throw .heif("the data of an item are nowhere") }
    let (sum, overflow) = base.addingReportingOverflow(offset)
    let (first, overflows) = (method == 0 ? 0 : itemData?.lowerBound ?? 0).addingReportingOverflow(Int64(sum))
    let (end, endOverflows) = first.addingReportingOverflow(Int64(length))
    guard !overflow, !overflows, !endOverflows else {
      throw .heif("the data of an item are behind the end of all files")
    }
    return first..<end
  }
}

extension ImagingError {
  fileprivate static func short(_ type: String) -> ImagingError { .heif("the box \(type) is too short") }
  fileprivate static func repeated(_ type: String) -> ImagingError { .heif("it has two boxes \(type) for the same") }
}
