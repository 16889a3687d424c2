#pragma once
#include <jansson.h>

/// `json_decref` is inline and uses atomics that Swift's importer passes over.
static inline void cjansson_decref(json_t *value) { json_decref(value); }
