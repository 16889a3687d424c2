#pragma once
#include "cplanes.h"

// The loops are compiled for each set of instructions. Parameters and arguments are in parentheses.
#define WITHOUT_PARENTHESES(...) __VA_ARGS__

/// The version of a loop for some instructions, which executes a statement.
#define VERSION(instructions, name, parameters, statement) \
  WITH_##instructions static void name##_##instructions parameters { statement; }

#if defined(__x86_64__)
#define WITH_baseline
#define WITH_avx2 __attribute__((target("avx2")))
#define WITH_avx512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

/// Defines `cplanes_<name>`, which calls the version of the loop `name` for some instructions.
#define CHOICE(name, parameters, arguments) \
  void cplanes_##name(cplanes_instructions instructions, WITHOUT_PARENTHESES parameters) { \
    switch (instructions) { \
      case cplanes_baseline: name##_baseline arguments; break; \
      case cplanes_avx2: name##_avx2 arguments; break; \
      case cplanes_avx512: name##_avx512 arguments; break; \
    } \
  }

/// Defines all versions of a loop, and the choice.
#define VERSIONS(name, parameters, arguments) \
  VERSION(baseline, name, parameters, name arguments) \
  VERSION(avx2, name, parameters, name arguments) \
  VERSION(avx512, name, parameters, name arguments) \
  CHOICE(name, parameters, arguments)
#else
#define WITH_baseline

#define CHOICE(name, parameters, arguments) \
  void cplanes_##name(cplanes_instructions instructions, WITHOUT_PARENTHESES parameters) { \
    (void)instructions; \
    name##_baseline arguments; \
  }

#define VERSIONS(name, parameters, arguments) \
  VERSION(baseline, name, parameters, name arguments) \
  CHOICE(name, parameters, arguments)
#endif
