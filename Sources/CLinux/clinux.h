#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/// `syncfs` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set.
static inline int clinux_syncfs(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }

/// `renameat2` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set.
static inline int clinux_rename_noreplace(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
