#pragma once
#include <spawn.h>

// glibc declares these only for _GNU_SOURCE, which Swift's module of glibc does without.

/// Has the child change to a folder. Returns 0 or an error number.
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/// Has the child close all descriptors from this one on. Returns 0 or an error number.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

/// Gives the calling thread parts of its process of its own, by `CSPAWN_CLONE_FS` its current folder. Returns 0, or -1 and errno.
int unshare(int parts);

enum { CSPAWN_CLONE_FS = 0x200 };

/// Creates a file without a name, and returns its descriptor, or -1 and errno.
int memfd_create(const char *name, unsigned int flags);

enum { CSPAWN_MFD_CLOEXEC = 1 };
