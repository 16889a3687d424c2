#include "cloader.h"

#include <dlfcn.h>
#include <stddef.h>

int cloader_find(const char *library, const char *const *names, void **functions) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return 0;
  for (; *names != NULL; names++, functions++) {
    *functions = dlsym(handle, *names);
    if (*functions == NULL) return 0;
  }
  return 1;
}
