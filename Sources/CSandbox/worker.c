#define _GNU_SOURCE
#include "csandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

ssize_t csandbox_send(int socket, const void *bytes, size_t count, const int *descriptors, int number) {
  struct iovec content = {.iov_base = (void *)bytes, .iov_len = count};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * CSANDBOX_MAX_DESCRIPTORS)];
  } control;
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
  if (number > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.space;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)number);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)number);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (size_t)number);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t csandbox_receive(int socket, void *bytes, size_t capacity, int *descriptors, int *number) {
  struct iovec content = {.iov_base = bytes, .iov_len = capacity};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * CSANDBOX_MAX_DESCRIPTORS)];
  } control;
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
  *number = 0;
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return count;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    *number = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(descriptors, CMSG_DATA(header), sizeof(int) * (size_t)*number);
  }
  return count;
}

/// Starts a program with the signals as a shell leaves them. `add` defines its descriptors.
/// Returns 0 or an `errno`.
static int csandbox_start(
    const char *path, char *const arguments[], char *const environment[], short flags,
    int (*add)(posix_spawn_file_actions_t *actions, const int *descriptors), const int *descriptors, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (failed) {
    posix_spawn_file_actions_destroy(&actions);
    return failed;
  }
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flags);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  failed = add(&actions, descriptors);
  if (!failed) failed = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// The descriptors of a worker: its socket, and whether it keeps the standard error.
static int csandbox_add_worker(posix_spawn_file_actions_t *actions, const int *descriptors) {
  // First, in case it is one of those that are replaced.
  int failed = posix_spawn_file_actions_adddup2(actions, descriptors[0], CSANDBOX_SOCKET);
  if (!failed) failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
  if (!failed) failed = posix_spawn_file_actions_adddup2(actions, 0, 1);
  if (!failed && !descriptors[1]) failed = posix_spawn_file_actions_adddup2(actions, 0, 2);
  if (!failed) failed = posix_spawn_file_actions_addclosefrom_np(actions, CSANDBOX_SOCKET + 1);
  return failed;
}

int csandbox_spawn(
    const char *path, char *const arguments[], char *const environment[], int socket, int keeps_errors, pid_t *pid) {
  const int descriptors[] = {socket, keeps_errors};
  return csandbox_start(path, arguments, environment, 0, csandbox_add_worker, descriptors, pid);
}

/// The descriptors of a program: its output.
static int csandbox_add_program(posix_spawn_file_actions_t *actions, const int *output) {
  // First, in case it is the one that is replaced.
  int failed = posix_spawn_file_actions_adddup2(actions, output[0], 1);
  if (!failed) failed = posix_spawn_file_actions_adddup2(actions, 1, 2);
  if (!failed) failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  if (!failed) failed = posix_spawn_file_actions_addclosefrom_np(actions, 3);
  return failed;
}

int csandbox_spawn_program(const char *path, char *const environment[], int *output, pid_t *pid) {
  char *const arguments[] = {(char *)path, NULL};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  int failed =
      csandbox_start(path, arguments, environment, POSIX_SPAWN_SETPGROUP, csandbox_add_program, &ends[1], pid);
  close(ends[1]);
  if (failed) close(ends[0]);
  *output = ends[0];
  return failed;
}

pid_t csandbox_fork_sibling(void) { return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0); }

int csandbox_end_with(pid_t parent) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent; }

void csandbox_await_end(pid_t pid) {
  siginfo_t state;
  while (waitid(P_PID, (id_t)pid, &state, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
}

int csandbox_wait(pid_t pid) {
  int status;
  pid_t ended;
  do {
    ended = waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return -1;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

int csandbox_has_ended(pid_t pid) {
  siginfo_t state = {.si_pid = 0};
  return waitid(P_PID, (id_t)pid, &state, WEXITED | WNOHANG | WNOWAIT) != 0 || state.si_pid == pid;
}

int csandbox_set_limit(pid_t pid, int resource, unsigned long long value) {
  struct rlimit limit;
  if (prlimit(pid, (enum __rlimit_resource)resource, NULL, &limit) != 0) return -1;
  limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
  return prlimit(pid, (enum __rlimit_resource)resource, &limit, NULL);
}

unsigned long long csandbox_limit(pid_t pid, int resource) {
  struct rlimit limit;
  return prlimit(pid, (enum __rlimit_resource)resource, NULL, &limit) == 0 ? limit.rlim_cur : 0;
}

void csandbox_limit_self(int resource, unsigned long long soft, unsigned long long hard) {
  struct rlimit limit;
  if (getrlimit((enum __rlimit_resource)resource, &limit) != 0) return;
  if (hard < limit.rlim_max) limit.rlim_max = hard;
  limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
  setrlimit((enum __rlimit_resource)resource, &limit);
}

/// Ends the process so that whoever waits for it sees that it got no memory: Swift ends a program then, without a word.
static void csandbox_end(int signal) {
  if (errno == ENOMEM) _exit(CSANDBOX_OUT_OF_MEMORY);
  raise(signal);
}

void csandbox_handle_signals(void) {
  struct sigaction fatal = {.sa_handler = csandbox_end, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
  static const int signals[] = {SIGABRT, SIGILL, SIGTRAP};
  for (int index = 0; index < 3; index++) sigaction(signals[index], &fatal, NULL);
  static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2};
  for (int index = 0; index < 8; index++) signal(ignored[index], SIG_IGN);
}
