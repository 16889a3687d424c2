#define _GNU_SOURCE
#include "csandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// What a process that has its descriptors needs to compute, to allocate, and to answer over a socket that it has.
static const int csandbox_allowed[] = {
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write), SCMP_SYS(writev),
    SCMP_SYS(lseek), SCMP_SYS(_llseek), SCMP_SYS(fstat), SCMP_SYS(fstat64), SCMP_SYS(close), SCMP_SYS(recvmsg),
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(futex_time64),
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn),
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(sigaltstack), SCMP_SYS(set_robust_list),
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrandom), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sysinfo), SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(nanosleep),
};

/// What the C library may try by itself (the time zone, the state of the memory), and does without.
static const int csandbox_denied[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(creat), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd),
};

/// What no decoder ever does: whoever calls it is not the decoder any more.
static const int csandbox_deadly[] = {
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
    SCMP_SYS(accept4), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg), SCMP_SYS(execve), SCMP_SYS(execveat),
    SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(mount), SCMP_SYS(umount2),
    SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup), SCMP_SYS(keyctl), SCMP_SYS(add_key),
    SCMP_SYS(request_key), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat),
    SCMP_SYS(renameat2), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat), SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(setuid), SCMP_SYS(setgid),
    SCMP_SYS(reboot), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load),
};

/// What the server of workers needs besides, and what each of its forks does until it has the filter of a worker.
static const int csandbox_server[] = {
    SCMP_SYS(getppid), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(seccomp), SCMP_SYS(setrlimit), SCMP_SYS(getrlimit),
    SCMP_SYS(ugetrlimit), SCMP_SYS(fcntl), SCMP_SYS(wait4),
    // Its forks inherit the filter. The kernel does not run it for calls that it allows whatever their arguments are: with
    // conditions for these two, pictures took 1.02 times the CPU. Which memory there may be, the filter of workers says.
    SCMP_SYS(mmap), SCMP_SYS(mprotect),
};

/// What stands for the process's own number in the prepared filter: no process has it.
#define CSANDBOX_OWN 0x7ffffffeu

#define CSANDBOX_COUNT(list) (sizeof(list) / sizeof *(list))

/// Adds a rule for each system call of a list. One that the architecture does not have is passed over (`EDOM`).
static int csandbox_add(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count) {
  for (size_t index = 0; index < count; index++) {
    int result = seccomp_rule_add(filter, action, calls[index], 0);
    if (result < 0 && result != -EDOM) return result;
  }
  return 0;
}

/// The rules that look at arguments. No memory is shared or executable; no signal goes to another process, and to this one
/// only those with which it ends itself after an error: with SIGKILL it would look as if the machine had no memory left;
/// descriptors get no owner and no other flags; limits are read, and only one's own.
static int csandbox_add_conditions(scmp_filter_ctx filter) {
  static const int commands[] = {F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
  static const int signals[] = {SIGABRT, SIGILL, SIGTRAP};
  int failed = seccomp_rule_add(
      filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
      SCMP_A3_64(SCMP_CMP_MASKED_EQ, 0xf, MAP_PRIVATE));
  if (!failed)
    failed = seccomp_rule_add(
        filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  for (size_t index = 0; !failed && index < CSANDBOX_COUNT(signals); index++)
    failed = seccomp_rule_add(
        filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, SCMP_A0_64(SCMP_CMP_EQ, CSANDBOX_OWN),
        SCMP_A2_64(SCMP_CMP_EQ, (uint64_t)signals[index]));
  if (!failed)
    failed = seccomp_rule_add(
        filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0_64(SCMP_CMP_EQ, 0), SCMP_A2_64(SCMP_CMP_EQ, 0));
  for (size_t index = 0; !failed && index < CSANDBOX_COUNT(commands); index++)
    failed = seccomp_rule_add(
        filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1_64(SCMP_CMP_EQ, (uint64_t)commands[index]));
  return failed;
}

/// The rules of the server that look at arguments: it makes processes as `csandbox_fork_sibling` does, and of a process that it
/// has made it sets what ends it, its filter, and limits. Signals go to the process itself: only `raise` is called.
static int csandbox_add_server_conditions(scmp_filter_ctx filter) {
  static const int settings[] = {PR_SET_PDEATHSIG, PR_SET_SECCOMP};
  int failed = seccomp_rule_add(
      filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0_64(SCMP_CMP_EQ, CLONE_PARENT | SIGCHLD));
  for (size_t index = 0; !failed && index < CSANDBOX_COUNT(settings); index++)
    failed = seccomp_rule_add(
        filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)settings[index]));
  if (!failed)
    failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0_64(SCMP_CMP_EQ, 0));
  if (!failed) failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 0);
  return failed;
}

/// The filter as the kernel takes it, once it is prepared.
static struct sock_fprog csandbox_program;

/// Copies the instructions of a filter. Returns 0, or a negative `errno`.
static int csandbox_export(scmp_filter_ctx filter) {
  int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0) return -errno;
  int failed = seccomp_export_bpf(filter, file);
  off_t size = failed ? 0 : lseek(file, 0, SEEK_END);
  struct sock_filter *instructions = size > 0 ? malloc((size_t)size) : NULL;
  if (!failed && (instructions == NULL || pread(file, instructions, (size_t)size, 0) != size)) failed = -ENOMEM;
  close(file);
  if (failed) {
    free(instructions);
    return failed;
  }
  csandbox_program.len = (unsigned short)((size_t)size / sizeof *instructions);
  csandbox_program.filter = instructions;
  return 0;
}

/// Makes a filter with the rules of all processes. Returns NULL for want of memory.
static scmp_filter_ctx csandbox_make(int *failure) {
  // Every other system call, `clone3` among them, does not exist, so that a newer C library falls back to what it did before.
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
  *failure = -ENOMEM;
  if (filter == NULL) return NULL;
  uint32_t deadly = seccomp_api_get() >= 3 ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_KILL;
  seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, deadly);
  // A binary tree instead of a list: with it the kernel compares seven times and not a hundred.
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  int failed = csandbox_add(filter, SCMP_ACT_ALLOW, csandbox_allowed, CSANDBOX_COUNT(csandbox_allowed));
  if (!failed) failed = csandbox_add(filter, SCMP_ACT_ERRNO(EACCES), csandbox_denied, CSANDBOX_COUNT(csandbox_denied));
  if (!failed) failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0);
  if (!failed) failed = csandbox_add(filter, deadly, csandbox_deadly, CSANDBOX_COUNT(csandbox_deadly));
  *failure = failed;
  return filter;
}

int csandbox_prepare_filter(void) {
  int failed;
  scmp_filter_ctx filter = csandbox_make(&failed);
  if (!failed) failed = csandbox_add_conditions(filter);
  if (!failed) failed = csandbox_export(filter);
  seccomp_release(filter);
  return failed;
}

int csandbox_filter_server(void) {
  int failed;
  scmp_filter_ctx filter = csandbox_make(&failed);
  if (!failed) failed = csandbox_add(filter, SCMP_ACT_ALLOW, csandbox_server, CSANDBOX_COUNT(csandbox_server));
  if (!failed) failed = csandbox_add_server_conditions(filter);
  if (!failed) failed = seccomp_load(filter);
  seccomp_release(filter);
  return failed;
}

int csandbox_filter_system_calls(void) {
  if (csandbox_program.len == 0) return -EINVAL;
  int places = 0;
  for (int index = 0; index < csandbox_program.len; index++) {
    struct sock_filter *instruction = &csandbox_program.filter[index];
    if (instruction->code != (BPF_JMP | BPF_JEQ | BPF_K) || instruction->k != CSANDBOX_OWN) continue;
    instruction->k = (uint32_t)getpid();
    places += 1;
  }
  // As often as the library compares it: once, or once for each signal.
  if (places == 0) return -EINVAL;
  // Threads that there are get the filter, too. A kernel that cannot do it has the filter for this one.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &csandbox_program) == 0) return 0;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &csandbox_program, 0, 0) == 0 ? 0 : -errno;
}

int csandbox_deny_files(void) {
  // LANDLOCK_CREATE_RULESET_VERSION, of landlock_create_ruleset(2).
  long version = syscall(444, NULL, 0, 1u);
  if (version < 0) return -errno;
  struct {
    uint64_t files, network, scopes;
  } denied = {
      // The rights of the first version, then REFER, TRUNCATE, IOCTL_DEV.
      .files = version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version == 2 ? 0x3fff : 0x1fff,
      .network = version >= 4 ? 3 : 0,  // BIND_TCP, CONNECT_TCP
      .scopes = version >= 6 ? 3 : 0,   // ABSTRACT_UNIX_SOCKET, SIGNAL
  };
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  long rules = syscall(444, &denied, size, 0u);
  if (rules < 0) return -errno;
  // landlock_restrict_self(2)
  int result = syscall(446, (int)rules, 0u) == 0 ? 0 : -errno;
  close((int)rules);
  return result;
}

int csandbox_give_up_privileges(void) {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}
