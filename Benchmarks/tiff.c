// What TIFF to PNG costs in libtiff, libpng and zlib alone.
//
//   tiff LEVEL FILE…     decodes the first page of each picture, RGB of 8 bits in strips, and encodes it with the row filters sub
//                        and up into FILE.out
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>
#include <zlib.h>

static void fail(const char *name) {
  fprintf(stderr, "tiff: %s\n", name);
  exit(65);
}

static void recode(const char *name, int level) {
  char out[4096];
  snprintf(out, sizeof out, "%s.out", name);
  TIFF *source = TIFFOpen(name, "r");
  FILE *result = fopen(out, "wb");
  if (source == NULL || result == NULL) fail(name);
  uint32_t width = 0, height = 0;
  TIFFGetField(source, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(source, TIFFTAG_IMAGELENGTH, &height);
  if (TIFFIsTiled(source) || TIFFScanlineSize(source) != 3 * (tmsize_t)width) fail(name);

  png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(codec);
  png_init_io(codec, result);
  png_set_compression_level(codec, level);
  png_set_compression_strategy(codec, Z_FILTERED);
  png_set_filter(codec, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP);
  png_set_IHDR(codec, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, 0, 0);
  png_write_info(codec, info);
  unsigned char *row = malloc(3 * (size_t)width);
  for (uint32_t y = 0; y < height; y++) {
    if (TIFFReadScanline(source, row, y, 0) != 1) fail(name);
    png_write_row(codec, row);
  }
  png_write_end(codec, info);
  png_destroy_write_struct(&codec, &info);
  TIFFClose(source);
  free(row);
  fclose(result);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  for (int i = 2; i < argc; i++) recode(argv[i], atoi(argv[1]));
  return 0;
}
