// What GIF to PNG costs in giflib, libpng and zlib alone.
//
//   gif LEVEL FILE…      decodes the first frame of each picture, which covers its screen, and encodes it in colour, without
//                        row filters, into FILE.out
#include <gif_lib.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *name) {
  fprintf(stderr, "gif: %s\n", name);
  exit(65);
}

static void recode(const char *name, int level) {
  char out[4096];
  snprintf(out, sizeof out, "%s.out", name);
  int error;
  GifFileType *source = DGifOpenFileName(name, &error);
  FILE *result = fopen(out, "wb");
  GifRecordType record;
  GifByteType *extension;
  int code;
  if (source == NULL || result == NULL) fail(name);
  while (DGifGetRecordType(source, &record) == GIF_OK && record == EXTENSION_RECORD_TYPE) {
    if (DGifGetExtension(source, &code, &extension) != GIF_OK) fail(name);
    while (extension != NULL) {
      if (DGifGetExtensionNext(source, &extension) != GIF_OK) fail(name);
    }
  }
  if (record != IMAGE_DESC_RECORD_TYPE || DGifGetImageDesc(source) != GIF_OK) fail(name);
  int width = source->Image.Width, height = source->Image.Height;
  const ColorMapObject *map = source->Image.ColorMap ? source->Image.ColorMap : source->SColorMap;
  if (width != source->SWidth || height != source->SHeight || map == NULL || source->Image.Interlace) fail(name);

  png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(codec);
  png_init_io(codec, result);
  png_set_compression_level(codec, level);
  png_set_filter(codec, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_set_IHDR(codec, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, 0, 0);
  png_write_info(codec, info);
  unsigned char *indices = malloc(width), *row = malloc(3 * width);
  for (int y = 0; y < height; y++) {
    if (DGifGetLine(source, indices, width) != GIF_OK) fail(name);
    for (int x = 0; x < width; x++) {
      GifColorType colour = map->Colors[indices[x] < map->ColorCount ? indices[x] : 0];
      row[3 * x] = colour.Red, row[3 * x + 1] = colour.Green, row[3 * x + 2] = colour.Blue;
    }
    png_write_row(codec, row);
  }
  png_write_end(codec, info);
  png_destroy_write_struct(&codec, &info);
  DGifCloseFile(source, &error);
  free(indices);
  free(row);
  fclose(result);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  for (int i = 2; i < argc; i++) recode(argv[i], atoi(argv[1]));
  return 0;
}
