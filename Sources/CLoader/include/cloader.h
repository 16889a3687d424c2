#pragma once

/// Loads a library (`dlopen(3)`) and finds functions of it.
/// - `library`: the name of its file, such as `libgif.so.7`.
/// - `names`: the functions' names, of which the last is followed by NULL.
/// - `functions`: receives as many pointers.
/// - Returns: 0 when the library or one of the functions is missing.
int cloader_find(const char *library, const char *const *names, void **functions);
