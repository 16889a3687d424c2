// What PNG costs in libpng and zlib alone.
//
//   png settings FILE…                         encodes each picture with every setting, and as the program does it: CPU time and
//                                              bytes
//   png recode FILTERS LEVEL STRATEGY FILE…    decodes and encodes each picture once, row by row, into FILE.out
//
// Filters are letters of n(one), s(ub), u(p), a(verage), p(aeth); the strategy is default, filtered, huffman or rle.
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "cdeflate.h"

typedef struct {
  int width, height, depth, type, stride;
  unsigned char *rows;
} picture;

static const char *filter_sets[] = {"n", "s", "u", "a", "p", "su", "ua", "sua", "sup", "nsuap"};
static const int levels[] = {1, 2, 3, 4, 5, 6, 9};
static const struct { const char *name; int value; } strategies[] = {
    {"default", Z_DEFAULT_STRATEGY}, {"filtered", Z_FILTERED}, {"rle", Z_RLE}, {"huffman", Z_HUFFMAN_ONLY}};
enum { filter_set_count = 10, level_count = 7, strategy_count = 4, repetitions = 3 };

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static int filters_named(const char *letters) {
  int filters = 0;
  for (; *letters; letters++) {
    filters |= *letters == 'n' ? PNG_FILTER_NONE : *letters == 's' ? PNG_FILTER_SUB : *letters == 'u' ? PNG_FILTER_UP
             : *letters == 'a' ? PNG_FILTER_AVG : PNG_FILTER_PAETH;
  }
  return filters;
}

static int strategy_named(const char *name) {
  for (int i = 0; i < strategy_count; i++) {
    if (!strcmp(strategies[i].name, name)) return strategies[i].value;
  }
  fprintf(stderr, "png: no strategy %s\n", name);
  exit(64);
}

static void open_reader(FILE *file, png_structp *codec, png_infop *info, picture *made) {
  *codec = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  *info = png_create_info_struct(*codec);
  png_init_io(*codec, file);
  png_read_info(*codec, *info);
  png_set_expand(*codec);
  png_read_update_info(*codec, *info);
  made->width = png_get_image_width(*codec, *info);
  made->height = png_get_image_height(*codec, *info);
  made->depth = png_get_bit_depth(*codec, *info);
  made->type = png_get_color_type(*codec, *info);
  made->stride = png_get_rowbytes(*codec, *info);
}

static void open_writer(
    const picture *from, int filters, int level, int strategy, png_structp *codec, png_infop *info) {
  *codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  *info = png_create_info_struct(*codec);
  png_set_compression_level(*codec, level);
  png_set_compression_strategy(*codec, strategy);
  png_set_compression_buffer_size(*codec, 65536);
  png_set_filter(*codec, PNG_FILTER_TYPE_BASE, filters);
  png_set_IHDR(
      *codec, *info, from->width, from->height, from->depth, from->type, PNG_INTERLACE_NONE,
      PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
}

static void count(png_structp codec, png_bytep bytes, size_t length) {
  (void)bytes;
  *(size_t *)png_get_io_ptr(codec) += length;
}

static void flush(png_structp codec) { (void)codec; }

static size_t encode(const picture *picture, int filters, int level, int strategy) {
  png_structp codec;
  png_infop info;
  size_t length = 0;
  open_writer(picture, filters, level, strategy, &codec, &info);
  png_set_write_fn(codec, &length, count, flush);
  png_write_info(codec, info);
  for (int row = 0; row < picture->height; row++) png_write_row(codec, picture->rows + (size_t)row * picture->stride);
  png_write_end(codec, info);
  png_destroy_write_struct(&codec, &info);
  return length;
}

static size_t encode_with_libdeflate(const picture *picture) {
  png_structp codec;
  png_infop info;
  size_t length = 0;
  open_writer(picture, PNG_FILTER_NONE, 1, Z_DEFAULT_STRATEGY, &codec, &info);
  png_set_write_fn(codec, &length, count, flush);
  png_write_info(codec, info);
  int sample = picture->depth / 8;
  cdeflate_rows *rows =
      cdeflate_open((cdeflate_layout){picture->width, picture->height, picture->stride / picture->width / sample, sample, 0});
  for (int row = 0; row < picture->height; row++) {
    cdeflate_add(rows, picture->rows + (size_t)row * picture->stride);
  }
  const unsigned char *bytes;
  size_t packed = cdeflate_finish(rows, &bytes);
  png_write_chunk(codec, (png_const_bytep)"IDAT", bytes, packed);
  png_write_chunk(codec, (png_const_bytep)"IEND", NULL, 0);
  cdeflate_close(rows);
  png_destroy_write_struct(&codec, &info);
  return length;
}

static FILE *opened(const char *name, const char *mode) {
  FILE *file = fopen(name, mode);
  if (file == NULL) {
    perror(name);
    exit(66);
  }
  setvbuf(file, NULL, _IOFBF, 65536);
  return file;
}

static void compare_settings(const char *name) {
  png_structp codec;
  png_infop info;
  picture picture;
  FILE *file = opened(name, "rb");
  open_reader(file, &codec, &info, &picture);
  picture.rows = malloc((size_t)picture.stride * picture.height);
  for (int row = 0; row < picture.height; row++) {
    png_read_row(codec, picture.rows + (size_t)row * picture.stride, NULL);
  }
  png_destroy_read_struct(&codec, &info, NULL);
  fclose(file);
  for (int set = 0; set < filter_set_count; set++) {
    for (int strategy = 0; strategy < strategy_count; strategy++) {
      for (int level = 0; level < level_count; level++) {
        // These two know no levels.
        if (level > 0 && strategy >= 2) continue;
        double best = 1e9;
        size_t length = 0;
        for (int turn = 0; turn < repetitions; turn++) {
          double began = cpu_seconds();
          length = encode(&picture, filters_named(filter_sets[set]), levels[level], strategies[strategy].value);
          double taken = cpu_seconds() - began;
          if (taken < best) best = taken;
        }
        printf(
            "%s\t%s\t%d\t%s\t%.6f\t%zu\n", name, filter_sets[set], levels[level], strategies[strategy].name, best,
            length);
      }
    }
  }
  double best = 1e9;
  size_t length = 0;
  for (int turn = 0; turn < repetitions; turn++) {
    double began = cpu_seconds();
    length = encode_with_libdeflate(&picture);
    double taken = cpu_seconds() - began;
    if (taken < best) best = taken;
  }
  printf("%s\tnsu\t2\tlibdeflate\t%.6f\t%zu\n", name, best, length);
  free(picture.rows);
}

static void recode(const char *name, int filters, int level, int strategy) {
  png_structp reader, writer;
  png_infop read_info, write_info;
  picture picture;
  char out[4096];
  snprintf(out, sizeof out, "%s.out", name);
  FILE *source = opened(name, "rb"), *result = opened(out, "wb");
  open_reader(source, &reader, &read_info, &picture);
  open_writer(&picture, filters, level, strategy, &writer, &write_info);
  png_init_io(writer, result);
  png_write_info(writer, write_info);
  unsigned char *row = malloc(picture.stride);
  for (int index = 0; index < picture.height; index++) {
    png_read_row(reader, row, NULL);
    png_write_row(writer, row);
  }
  png_read_end(reader, NULL);
  png_write_end(writer, write_info);
  png_destroy_read_struct(&reader, &read_info, NULL);
  png_destroy_write_struct(&writer, &write_info);
  fclose(source);
  fclose(result);
  free(row);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "settings")) {
    for (int i = 2; i < argc; i++) compare_settings(argv[i]);
  } else if (argc > 5 && !strcmp(argv[1], "recode")) {
    for (int i = 5; i < argc; i++) {
      recode(argv[i], filters_named(argv[2]), atoi(argv[3]), strategy_named(argv[4]));
    }
  } else {
    fprintf(stderr, "usage: png settings FILE... | png recode FILTERS LEVEL STRATEGY FILE...\n");
    return 64;
  }
  return 0;
}
