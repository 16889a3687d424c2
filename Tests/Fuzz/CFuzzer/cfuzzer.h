#pragma once
#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry, which no header declares for C. A program with a `main` of its own, as the package manager wants
/// one, calls it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));
