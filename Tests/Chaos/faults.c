// Counts the calls of a program that change files, over all its threads and the processes that it starts, and kills it or
// has a call fail. For LD_PRELOAD: it takes the place of glibc's functions, through which Swift, Foundation and SQLite go.
//
// Only files beneath CHAOS_ROOT count, so that what the loader, standard error or sockets do does not disturb the count; and new
// descriptors that belong to no path, where CHAOS_CALLS names their calls.
//
//   CHAOS_ROOT   the folder; without it nothing happens
//   CHAOS_MAP    a file in which the count and the calls are noted; it survives the program (see `struct map`)
//   CHAOS_AT     the number of the call at which it happens, from 1; 0: never
//   CHAOS_FAULT  kill: SIGKILL before the call; torn: half of a write, then SIGKILL; hang: the call does not return; or a number
//                of errno
//   CHAOS_CALLS  the calls that count, as " open write "; default: all that change something
//   CHAOS_TIMES  how many such calls in a row fail; default 1
//   CHAOS_STALLS one of so many such calls takes up to 0.2 s, as on a disk that hangs; default 0, none
//   CHAOS_NOSYNC if it is set, fsync and fdatasync do nothing: a test of the tests, which must find that out
//   CHAOS_NOHINT if it is set, sync_file_range does nothing: it promises nothing, and hides that a sync is missing
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { max_calls = 32768 };

struct call {
  char name[16];
  char path[112];
};

// What the harness reads when the program has ended.
struct map {
  _Atomic uint64_t count;
  _Atomic uint64_t happened;
  _Atomic uint64_t leader;
  uint64_t unused[13];
  struct call calls[max_calls];
};

static struct map *map;
static char root[4096];
static size_t root_length;
static uint64_t at, times = 1, stalls;
static int fault;  // errno; -1: kill; -2: torn; -4: hang
static int has_no_syncs, has_no_hints;
static char wanted[512];
static const char changing[] =
    " open write pwrite writev pwritev rename link symlink unlink mkdir rmdir fsync fdatasync sync_file_range ftruncate "
    "fallocate fchmod chmod fchown utimens copy_range clone mknod ";

// Straight to the kernel: glibc's own functions may be ours.
static long raw_open(const char *path, int flags, mode_t mode) {
  return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static long (*real_syscall)(long, ...);

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CHAOS_MAP"), *folder = getenv("CHAOS_ROOT");
  real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  if (!path || !folder || !real_syscall) return;
  int file = (int)raw_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || real_syscall(SYS_ftruncate, file, sizeof(struct map)) != 0) return;
  struct map *made = mmap(NULL, sizeof(struct map), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  real_syscall(SYS_close, file);
  if (made == MAP_FAILED) return;
  root_length = strlen(strncpy(root, folder, sizeof root - 1));
  const char *text = getenv("CHAOS_FAULT");
  fault = !text ? 0 : strcmp(text, "kill") == 0 ? -1 : strcmp(text, "torn") == 0 ? -2 : strcmp(text, "hang") == 0 ? -4 : atoi(text);
  if ((text = getenv("CHAOS_AT"))) at = strtoull(text, NULL, 10);
  if ((text = getenv("CHAOS_TIMES"))) times = strtoull(text, NULL, 10);
  if ((text = getenv("CHAOS_STALLS"))) stalls = strtoull(text, NULL, 10);
  has_no_syncs = getenv("CHAOS_NOSYNC") != NULL;
  has_no_hints = getenv("CHAOS_NOHINT") != NULL;
  text = getenv("CHAOS_CALLS");
  strncpy(wanted, text && *text ? text : changing, sizeof wanted - 1);
  uint64_t none = 0;
  atomic_compare_exchange_strong(&made->leader, &none, (uint64_t)getpid());
  map = made;
}

static int is_wanted(const char *name) {
  char word[24];
  snprintf(word, sizeof word, " %s ", name);
  return strstr(wanted, word) != NULL;
}

static int is_beneath(const char *path) {
  return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

// The path of a descriptor; 0 when it has none.
static int path_of(int descriptor, char *path, size_t size) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long length = real_syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return path[0] == '/';
}

static int absolute(int folder, const char *name, char *path, size_t size) {
  if (!name) return 0;
  if (name[0] == '/') return snprintf(path, size, "%s", name) > 0;
  if (folder == AT_FDCWD) {
    if (real_syscall(SYS_getcwd, path, size) <= 0) return 0;
  } else if (!path_of(folder, path, size)) {
    return 0;
  }
  size_t length = strlen(path);
  return snprintf(path + length, size - length, "/%s", name) > 0;
}

static void die(void) {
  real_syscall(SYS_kill, (pid_t)atomic_load(&map->leader), SIGKILL);
  real_syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// Waits now and then.
static void stall(uint64_t number) {
  uint64_t chance = (number + ((uint64_t)getpid() << 32)) * 0x9e3779b97f4a7c15u >> 20;
  if (stalls != 0 && chance % stalls == 0) usleep((useconds_t)(chance / stalls % 200 * 1000));
}

// Counts a call on a path. Returns the errno with which it is to fail, 0 when it is to go on, -2 when it is to be torn.
static int counted(const char *name, const char *path) {
  if (!is_beneath(path)) return 0;
  uint64_t number = atomic_fetch_add(&map->count, 1) + 1;
  if (number <= max_calls) {
    struct call *call = &map->calls[number - 1];
    size_t length = strlen(path + root_length);
    size_t skipped = length < sizeof call->path ? 0 : length - sizeof call->path + 1;
    strncpy(call->name, name, sizeof call->name - 1);
    strncpy(call->path, path + root_length + skipped, sizeof call->path - 1);
  }
  stall(number);
  if (at == 0 || number < at || number >= at + times) return 0;
  atomic_fetch_add(&map->happened, 1);
  if (fault == -1) die();
  if (fault == -4)
    for (;;) pause();
  return fault;
}

static int check_path(const char *name, int folder, const char *file) {
  char path[8192];
  int kept = errno, answer = 0;
  if (map && is_wanted(name) && absolute(folder, file, path, sizeof path)) answer = counted(name, path);
  if (answer == -2) die();
  errno = kept;
  return answer;
}

static int check_file(const char *name, int descriptor) {
  char path[8192];
  int kept = errno, answer = 0;
  if (map && is_wanted(name) && path_of(descriptor, path, sizeof path)) answer = counted(name, path);
  errno = kept;
  return answer;
}

// For calls that cannot be torn. -3: they are to succeed without being made.
static int check_whole(const char *name, int descriptor) {
  int answer = check_file(name, descriptor);
  if (answer == -2) die();
  if (answer == 0 && has_no_syncs && (strcmp(name, "fsync") == 0 || strcmp(name, "fdatasync") == 0)) return -3;
  if (answer == 0 && has_no_hints && strcmp(name, "sync_file_range") == 0) return -3;
  return answer;
}

// An open for reading counts only as "openread", so that EMFILE and EIO can be had there, too.
static const char *open_name(int flags) {
  return flags & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR) ? "open" : "openread";
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAIL_PATH(call, folder, path) \
  do { \
    int code = check_path(call, folder, path); \
    if (code > 0) return errno = code, -1; \
  } while (0)
#define FAIL_FILE(call, file) \
  do { \
    int code = check_whole(call, file); \
    if (code > 0) return errno = code, -1; \
    if (code == -3) return 0; \
  } while (0)

#define OPEN(name, folder_parameter, folder, ...) \
  int name(folder_parameter const char *path, int flags, ...) { \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
      va_list list; \
      va_start(list, flags); \
      mode = va_arg(list, mode_t); \
      va_end(list); \
    } \
    FAIL_PATH(open_name(flags), folder, path); \
    REAL(name); \
    return real(__VA_ARGS__ path, flags, mode); \
  }
#define COMMA ,
OPEN(open, , AT_FDCWD)
OPEN(open64, , AT_FDCWD)
OPEN(openat, int folder COMMA, folder, folder COMMA)
OPEN(openat64, int folder COMMA, folder, folder COMMA)

// _FORTIFY_SOURCE and some libraries call these.
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags) { return open64(path, flags); }
int __openat_2(int folder, const char *path, int flags);
int __openat_2(int folder, const char *path, int flags) { return openat(folder, path, flags); }
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// Foundation and stdio open through glibc's own functions, which cannot be caught within glibc.
#define FOPEN(name) \
  FILE *name(const char *path, const char *mode) { \
    int code = check_path(strpbrk(mode, "wa+") ? "open" : "openread", AT_FDCWD, path); \
    if (code > 0) return errno = code, NULL; \
    REAL(name); \
    return real(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define MKSTEMP(name, parameters, ...) \
  int name parameters { \
    FAIL_PATH("open", AT_FDCWD, template); \
    REAL(name); \
    return real(__VA_ARGS__); \
  }
MKSTEMP(mkstemp, (char *template), template)
MKSTEMP(mkstemp64, (char *template), template)
MKSTEMP(mkostemp, (char *template, int flags), template, flags)
MKSTEMP(mkstemps, (char *template, int suffix), template, suffix)

#define WRITE(name, call, parameters, half, ...) \
  ssize_t name parameters { \
    int code = check_file(call, file); \
    if (code > 0) return errno = code, -1; \
    REAL(name); \
    if (code == -2) { \
      half; \
      die(); \
    } \
    return real(__VA_ARGS__); \
  }
WRITE(write, "write", (int file, const void *bytes, size_t count), (void)!real(file, bytes, count / 2), file, bytes, count)
WRITE(pwrite, "pwrite", (int file, const void *bytes, size_t count, off_t offset),
      (void)!real(file, bytes, count / 2, offset), file, bytes, count, offset)
WRITE(pwrite64, "pwrite", (int file, const void *bytes, size_t count, off64_t offset),
      (void)!real(file, bytes, count / 2, offset), file, bytes, count, offset)
WRITE(writev, "writev", (int file, const struct iovec *parts, int count), (void)!real(file, parts, count / 2), file, parts,
      count)
WRITE(pwritev, "pwritev", (int file, const struct iovec *parts, int count, off_t offset),
      (void)!real(file, parts, count / 2, offset), file, parts, count, offset)
WRITE(copy_file_range, "copy_range",
      (int from, off64_t *from_offset, int file, off64_t *offset, size_t count, unsigned flags),
      (void)!real(from, from_offset, file, offset, count / 2, flags), from, from_offset, file, offset, count, flags)
WRITE(sendfile, "copy_range", (int file, int from, off_t *offset, size_t count), (void)!real(file, from, offset, count / 2),
      file, from, offset, count)
WRITE(sendfile64, "copy_range", (int file, int from, off64_t *offset, size_t count),
      (void)!real(file, from, offset, count / 2), file, from, offset, count)

// Reading changes nothing, and counts only where CHAOS_CALLS names it.
WRITE(read, "read", (int file, void *bytes, size_t count), (void)0, file, bytes, count)
WRITE(pread, "read", (int file, void *bytes, size_t count, off_t offset), (void)0, file, bytes, count, offset)
WRITE(pread64, "read", (int file, void *bytes, size_t count, off64_t offset), (void)0, file, bytes, count, offset)

#define OF_FILE(name, call, parameters, ...) \
  int name parameters { \
    FAIL_FILE(call, file); \
    REAL(name); \
    return real(__VA_ARGS__); \
  }
OF_FILE(fsync, "fsync", (int file), file)
OF_FILE(fdatasync, "fdatasync", (int file), file)
OF_FILE(syncfs, "fsync", (int file), file)
OF_FILE(sync_file_range, "sync_file_range", (int file, off64_t offset, off64_t count, unsigned flags), file, offset, count,
        flags)
OF_FILE(ftruncate, "ftruncate", (int file, off_t size), file, size)
OF_FILE(ftruncate64, "ftruncate", (int file, off64_t size), file, size)
OF_FILE(fallocate, "fallocate", (int file, int mode, off_t offset, off_t count), file, mode, offset, count)
OF_FILE(fallocate64, "fallocate", (int file, int mode, off64_t offset, off64_t count), file, mode, offset, count)
OF_FILE(fchmod, "fchmod", (int file, mode_t mode), file, mode)
OF_FILE(fchown, "fchown", (int file, uid_t user, gid_t group), file, user, group)
OF_FILE(futimens, "utimens", (int file, const struct timespec moments[2]), file, moments)

#define OF_PATH(name, call, folder, path, parameters, ...) \
  int name parameters { \
    FAIL_PATH(call, folder, path); \
    REAL(name); \
    return real(__VA_ARGS__); \
  }
OF_PATH(rename, "rename", AT_FDCWD, to, (const char *from, const char *to), from, to)
OF_PATH(renameat, "rename", folder, to, (int from_folder, const char *from, int folder, const char *to), from_folder, from,
        folder, to)
OF_PATH(renameat2, "rename", folder, to,
        (int from_folder, const char *from, int folder, const char *to, unsigned flags), from_folder, from, folder, to, flags)
OF_PATH(link, "link", AT_FDCWD, to, (const char *from, const char *to), from, to)
OF_PATH(linkat, "link", folder, to, (int from_folder, const char *from, int folder, const char *to, int flags), from_folder,
        from, folder, to, flags)
OF_PATH(symlink, "symlink", AT_FDCWD, to, (const char *from, const char *to), from, to)
OF_PATH(symlinkat, "symlink", folder, to, (const char *from, int folder, const char *to), from, folder, to)
OF_PATH(unlink, "unlink", AT_FDCWD, path, (const char *path), path)
OF_PATH(unlinkat, "unlink", folder, path, (int folder, const char *path, int flags), folder, path, flags)
OF_PATH(remove, "unlink", AT_FDCWD, path, (const char *path), path)
OF_PATH(rmdir, "rmdir", AT_FDCWD, path, (const char *path), path)
OF_PATH(mkdir, "mkdir", AT_FDCWD, path, (const char *path, mode_t mode), path, mode)
OF_PATH(mkdirat, "mkdir", folder, path, (int folder, const char *path, mode_t mode), folder, path, mode)
OF_PATH(chmod, "chmod", AT_FDCWD, path, (const char *path, mode_t mode), path, mode)
OF_PATH(fchmodat, "chmod", folder, path, (int folder, const char *path, mode_t mode, int flags), folder, path, mode, flags)
OF_PATH(truncate, "ftruncate", AT_FDCWD, path, (const char *path, off_t size), path, size)
OF_PATH(truncate64, "ftruncate", AT_FDCWD, path, (const char *path, off64_t size), path, size)
OF_PATH(utimensat, "utimens", folder, path, (int folder, const char *path, const struct timespec moments[2], int flags),
        folder, path, moments, flags)
OF_PATH(mknod, "mknod", AT_FDCWD, path, (const char *path, mode_t mode, dev_t device), path, mode, device)

// Descriptors without a path. Sockets for the system's own services, such as its resolver's, go through glibc's own functions.
static int check_descriptor(const char *name) {
  int answer = map && is_wanted(name) ? counted(name, root) : 0;
  if (answer == -2) die();
  return answer;
}

#define FAIL_DESCRIPTOR(call) \
  do { \
    int code = check_descriptor(call); \
    if (code > 0) return errno = code, -1; \
  } while (0)
#define DESCRIPTOR(name, call, parameters, ...) \
  int name parameters { \
    FAIL_DESCRIPTOR(call); \
    REAL(name); \
    return real(__VA_ARGS__); \
  }
DESCRIPTOR(socket, "socket", (int domain, int type, int protocol), domain, type, protocol)
DESCRIPTOR(socketpair, "socket", (int domain, int type, int protocol, int pair[2]), domain, type, protocol, pair)
DESCRIPTOR(pipe, "pipe", (int ends[2]), ends)
DESCRIPTOR(pipe2, "pipe", (int ends[2], int flags), ends, flags)
DESCRIPTOR(eventfd, "eventfd", (unsigned count, int flags), count, flags)
DESCRIPTOR(memfd_create, "memfd", (const char *name, unsigned flags), name, flags)
DESCRIPTOR(inotify_init1, "inotify", (int flags), flags)
DESCRIPTOR(dup, "dup", (int file), file)

// Shims call what glibc declares only for _GNU_SOURCE, or not at all, by number.
long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int index = 0; index < 6; index++) a[index] = va_arg(list, long);
  va_end(list);
  if (!real_syscall) real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  switch (number) {
    case SYS_renameat2: FAIL_PATH("rename", (int)a[2], (const char *)a[3]); break;
    case SYS_sync_file_range: FAIL_FILE("sync_file_range", (int)a[0]); break;
    case SYS_copy_file_range: FAIL_FILE("copy_range", (int)a[2]); break;
    case SYS_openat: FAIL_PATH(open_name((int)a[2]), (int)a[0], (const char *)a[1]); break;
    case SYS_openat2: FAIL_PATH(open_name((int)*(const uint64_t *)a[2]), (int)a[0], (const char *)a[1]); break;
    case SYS_memfd_create: FAIL_DESCRIPTOR("memfd"); break;
    case SYS_fallocate: FAIL_FILE("fallocate", (int)a[0]); break;
    case SYS_fchmodat: FAIL_PATH("chmod", (int)a[0], (const char *)a[1]); break;
    default: break;
  }
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
