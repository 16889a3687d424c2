import Imaging
import Model

extension ReportRow.Warning {
  /// The warnings about a copy.
  static func of(_ copy: LosslessCopy) -> [Self] {
    var warnings: [Self] = []
    if copy.mayKeepMetadata {
      warnings.append(
        Self(
          code: .metadataUnreadable,
          message:
            "metadata may still be in the copy: it is where pixels are, or cannot be told from them or from a film"))
    } else if copy.hasUnreadableMetadata {
      warnings.append(
        Self(
          code: .metadataUnreadable, message: "metadata of the picture cannot be read, and is not in the copy"))
    }
    if let error = copy.decodingError {
      warnings.append(
        Self(code: .visibleDamage, message: "the pixels of the copy may be wrong: with a filter \(error.message)"))
    } else if let damage = copy.damage {
      warnings.append(Self(damage))
    }
    return warnings
  }

  init(_ damage: PictureDamage) {
    switch damage.kind {
    case .harmless: self.init(code: .harmlessDamage, message: "no pixel depends on it: \(damage.text)")
    case .visible:
      self.init(code: .visibleDamage, message: "the colours or the orientation may be wrong: \(damage.text)")
    case .pixels: self.init(code: .pixelDamage, message: "pixels are missing or wrong \(damage.text)")
    }
  }
}
