#pragma once
#include <stddef.h>
#include <stdint.h>

#include "cheif.h"

// Encodes AVIF with libheif and libaom, in one thread, 8 bits per sample: with more, libheif 1.15 asks libaom for a kind that it
// does not know, which ends the process.

/// What an encoder needs to know. Pointers are used only by `cheif_encoder_create` and `cheif_encode`.
struct cheif_settings {
  int width, height;
  int has_alpha;
  /// 1…100.
  int quality;
  /// 0 (slow) to 9.
  int speed;
  /// 1 for 4:4:4 instead of 4:2:0.
  int full_chroma;
  /// A colour profile, a TIFF stream of EXIF, and an XMP packet; NULL without one.
  const uint8_t *profile, *exif, *xmp;
  size_t profile_size, exif_size, xmp_size;
};

typedef struct cheif_encoder cheif_encoder;

/// Allocates the picture. Returns NULL when there is no memory.
cheif_encoder *cheif_encoder_create(const struct cheif_settings *settings);

/// Sets a row from red, green, blue and alpha or a filler, of 8 bits each.
void cheif_set_row(cheif_encoder *encoder, int row, const uint8_t *pixels);

/// Encodes the picture and writes the file at the current offset of a descriptor.
enum cheif_failure cheif_encode(cheif_encoder *encoder, const struct cheif_settings *settings, int descriptor);

void cheif_encoder_free(cheif_encoder *encoder);
