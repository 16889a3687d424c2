#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/// `fcntl` is variadic. Takes a write lock on a whole file for this open file description: it is released when the
/// descriptor is closed, by the kernel if need be. Returns 0, or -1 with `errno`.
static inline int clinux_lock(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, 37 /* F_OFD_SETLK, declared only for _GNU_SOURCE */, &lock);
}

/// `fcntl` is variadic. Takes a read lease of a file and gives it back at once. Returns 0, or -1 with `errno`: `EAGAIN` when
/// somebody, be it this process, has the file open for writing or maps it so. The descriptor is open for reading only.
///
/// Who opens the file for writing in between waits these microseconds, and the kernel signals the lease's holder. The signal
/// would be SIGIO, which ends a process; SIGURG is ignored by default.
static inline int clinux_try_read_lease(int descriptor) {
  if (fcntl(descriptor, 10 /* F_SETSIG, declared only for _GNU_SOURCE, as the next */, SIGURG) != 0) return -1;
  if (fcntl(descriptor, 1024 /* F_SETLEASE */, F_RDLCK) != 0) return -1;
  fcntl(descriptor, 1024, F_UNLCK);
  return 0;
}

/// See `clinux_lock`. Returns 1 when another open file description holds the lock for writing, 2 when one holds it for
/// reading, 0 when none does, -1 with `errno`.
static inline int clinux_lock_holder(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, 36 /* F_OFD_GETLK */, &lock) != 0) return -1;
  return lock.l_type == F_UNLCK ? 0 : lock.l_type == F_WRLCK ? 1 : 2;
}

/// `flock` has the name of a structure, which hides it from Swift. Takes the lock of a folder or file for this open file
/// description and does not wait. Returns 0, or -1 with `errno`.
static inline int clinux_lock_folder(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

/// `openat2` has no wrapper in the C library. Opens a path beneath a folder and follows no symbolic link on the way.
static inline int clinux_open_beneath(int folder, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// See `clinux_open_beneath`. Looks a path up without opening it, and follows symbolic links that do not lead out of the folder;
/// none that is absolute.
static inline int clinux_look_up_beneath(int folder, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// See `clinux_open_beneath`. Looks a path up without opening it, and fails if there is a symbolic link on the way.
static inline int clinux_look_up_without_links(const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/// Whether files can be renamed from a folder to a path in it that is a folder: it is on the same file system, and no mount of
/// its own. A symbolic link is not followed. Returns 1 or 0, or -1 with `errno`. Kernels before 5.8 do not number mounts.
static inline int clinux_is_same_mount(int folder, const char *path) {
  struct statx own, other;
  int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (statx(folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &own) != 0 ||
      statx(folder, path, flags, STATX_MNT_ID, &other) != 0) {
    // Some containers refuse the call.
    struct stat folder_status, path_status;
    if (fstat(folder, &folder_status) != 0 || fstatat(folder, path, &path_status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    return folder_status.st_dev == path_status.st_dev;
  }
  if (own.stx_dev_major != other.stx_dev_major || own.stx_dev_minor != other.stx_dev_minor) return 0;
  return !(own.stx_mask & other.stx_mask & STATX_MNT_ID) || own.stx_mnt_id == other.stx_mnt_id;
}

/// `O_TMPFILE` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. Creates a file without a name
/// on the folder's file system, open for reading and writing.
static inline int clinux_create_nameless(int folder, unsigned mode) {
  return openat(folder, ".", 020000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode);
}

/// `SEEK_HOLE` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. Returns where the first hole at
/// or after an offset begins, or the file's end, and has the file read on from there.
static inline off_t clinux_seek_hole(int descriptor, off_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }

/// `sync_file_range` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. Has the writing of
/// all dirty pages of a file begin, and does not wait for it.
static inline int clinux_start_writing(int descriptor) {
  return (int)syscall(SYS_sync_file_range, descriptor, (off_t)0, (off_t)0, 2u /* SYNC_FILE_RANGE_WRITE */);
}

/// `ioctl` is variadic. Has one file share the blocks of another, on file systems that can.
static inline int clinux_clone(int to, int from) { return ioctl(to, FICLONE, from); }

/// `copy_file_range` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. Reads from an offset,
/// and goes on where the other file stands.
static inline ssize_t clinux_copy_range(int from, off_t offset, int to, size_t count) {
  return syscall(SYS_copy_file_range, from, &offset, to, NULL, count, 0u);
}

/// `memfd_create` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. Programs that are started
/// do not inherit the file.
static inline int clinux_create_in_memory(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
}

/// As `clinux_create_in_memory`, of a file that `clinux_seal` can make unchangeable.
static inline int clinux_create_sealable_in_memory(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 3u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
}

/// Forbids every change of a file in memory: to its bytes, its size and its seals.
static inline int clinux_seal(int file) {
  return fcntl(file, 1033 /* F_ADD_SEALS */, 15 /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE */);
}

/// `renameat2` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. The folders are descriptors
/// or `AT_FDCWD`.
static inline int clinux_rename_noreplace(int from_folder, const char *from, int to_folder, const char *to) {
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

/// See `clinux_rename_noreplace`. Two files exchange their names.
static inline int clinux_exchange(int from_folder, const char *from, int to_folder, const char *to) {
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, RENAME_EXCHANGE);
}

/// Whether a time server sets the kernel's clock. The call is made without <sys/timex.h>, which includes <sys/select.h>:
/// there _GNU_SOURCE changes a type that Swift's own module of the C library declares, too.
static inline int clinux_clock_is_set(void) {
  struct {
    unsigned modes;
    long offset, frequency, largest_error, estimated_error;
    int status;
    long others[32];
  } state = {0};
  enum { TIME_ERROR = 5, STA_UNSYNC = 0x40 };
  long result = syscall(SYS_adjtimex, &state);
  return result >= 0 && result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// `memmem` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set.
void *memmem(const void *bytes, size_t size, const void *mark, size_t mark_size);
static inline const void *clinux_search(const void *bytes, size_t size, const void *mark, size_t mark_size) {
  return memmem(bytes, size, mark, mark_size);
}

/// `SCHED_BATCH` is declared only for `_GNU_SOURCE`, which Swift's import of Glibc does not set. Sets it for the calling thread, and
/// for what it starts, if the thread has the usual policy.
static inline void clinux_use_batch_scheduling(void) {
  const struct sched_param parameters = {0};
  if (sched_getscheduler(0) == SCHED_OTHER) sched_setscheduler(0, 3 /* SCHED_BATCH */, &parameters);
}
