#pragma once
#include "cplanes.h"

// The loops are compiled for each set of instructions. Parameters are in parentheses.
#define WITHOUT_PARENTHESES(...) __VA_ARGS__

#if defined(__x86_64__)
#define VERSION(instructions, features, name, parameters, arguments) \
  __attribute__((target(features))) static void name##_##instructions parameters { name arguments; }

/// Defines `cplanes_<name>`, which calls the version of the loop `name` for some instructions.
#define VERSIONS(name, parameters, arguments) \
  VERSION(avx2, "avx2", name, parameters, arguments) \
  VERSION(avx512, "avx512f,avx512bw,avx512dq,avx512vl", name, parameters, arguments) \
  void cplanes_##name(cplanes_instructions instructions, WITHOUT_PARENTHESES parameters) { \
    switch (instructions) { \
      case cplanes_baseline: name arguments; break; \
      case cplanes_avx2: name##_avx2 arguments; break; \
      case cplanes_avx512: name##_avx512 arguments; break; \
    } \
  }
#else
#define VERSIONS(name, parameters, arguments) \
  void cplanes_##name(cplanes_instructions instructions, WITHOUT_PARENTHESES parameters) { \
    (void)instructions; \
    name arguments; \
  }
#endif
