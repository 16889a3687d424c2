// What JPEG costs in libjpeg-turbo alone.
//
//   jpeg QUALITY FILE…        decodes and encodes each picture once, row by row, into FILE.out
//   jpeg QUALITY SIDE FILE…   the same for a picture that fits into SIDE x SIDE pixels: decodes at the part of the size at which
//                             darkroom does, takes the pixels on the result's grid, and encodes those
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>

// The denominator of the part of the size that is decoded (Documentation/decisions/0020-resampling.md).
static unsigned denominator(unsigned longest, unsigned side) {
  if (longest / 8 >= 2 * side) return 8;
  if (longest / 4 >= 2 * side) return 4;
  return 10 * (longest / 2) >= 12 * side ? 2 : 1;
}

// `side` is 0 for a picture of the source's size.
static void recode(const char *name, int quality, unsigned side) {
  struct jpeg_decompress_struct reader;
  struct jpeg_compress_struct writer;
  struct jpeg_error_mgr errors;
  char out[4096];
  snprintf(out, sizeof out, "%s.out", name);
  FILE *source = fopen(name, "rb"), *result = fopen(out, "wb");
  if (source == NULL || result == NULL) exit(66);
  setvbuf(source, NULL, _IOFBF, 65536);
  setvbuf(result, NULL, _IOFBF, 65536);
  reader.err = writer.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&reader);
  jpeg_stdio_src(&reader, source);
  jpeg_read_header(&reader, TRUE);
  reader.out_color_space = JCS_EXT_RGBX;
  unsigned width = reader.image_width, height = reader.image_height;
  unsigned longest = width > height ? width : height;
  if (side > 0 && side < longest) {
    reader.scale_denom = denominator(longest, side);
    width = (2 * width * side / longest + 1) / 2;
    height = (2 * height * side / longest + 1) / 2;
  }
  jpeg_start_decompress(&reader);
  jpeg_create_compress(&writer);
  jpeg_stdio_dest(&writer, result);
  writer.image_width = width;
  writer.image_height = height;
  writer.input_components = 4;
  writer.in_color_space = JCS_EXT_RGBX;
  jpeg_set_defaults(&writer);
  jpeg_set_quality(&writer, quality, TRUE);
  writer.dct_method = JDCT_IFAST;
  jpeg_start_compress(&writer, TRUE);
  JSAMPROW row = malloc((size_t)4 * reader.output_width);
  for (unsigned y = 0; reader.output_scanline < reader.output_height;) {
    jpeg_read_scanlines(&reader, &row, 1);
    if (y == height || (size_t)y * reader.output_height / height + 1 != reader.output_scanline) continue;
    if (width != reader.output_width) {
      for (unsigned x = 0; x < width; x++) memcpy(row + 4 * x, row + 4 * ((size_t)x * reader.output_width / width), 4);
    }
    jpeg_write_scanlines(&writer, &row, 1);
    y++;
  }
  jpeg_finish_compress(&writer);
  jpeg_finish_decompress(&reader);
  jpeg_destroy_compress(&writer);
  jpeg_destroy_decompress(&reader);
  free(row);
  fclose(source);
  fclose(result);
}

int main(int argc, char **argv) {
  int first = argc > 2 && isdigit((unsigned char)argv[2][0]) ? 3 : 2;
  if (argc <= first) return 64;
  for (int i = first; i < argc; i++) recode(argv[i], atoi(argv[1]), first == 3 ? (unsigned)atoi(argv[2]) : 0);
  return 0;
}
