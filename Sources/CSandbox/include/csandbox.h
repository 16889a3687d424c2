#pragma once
#include <stddef.h>
#include <sys/types.h>

// What Swift cannot do: functions that are variadic (`seccomp_rule_add`, `prctl`) or declared only for `_GNU_SOURCE`, which
// Swift's import of Glibc does not set; macros (`CMSG_…`, `W…`); signal handlers; system calls that the C library has no
// functions for (Landlock).

/// The descriptor under which a worker has its socket.
#define CSANDBOX_SOCKET 3

/// With what a worker exits that got no memory.
#define CSANDBOX_OUT_OF_MEMORY 77

/// Descriptors that a message may carry.
#define CSANDBOX_MAX_DESCRIPTORS 2

/// Makes the filter for `csandbox_filter_system_calls`: that takes longer than to fork. Returns 0, or a negative `errno`.
int csandbox_prepare_filter(void);

/// Limits the process to the system calls that a decoder needs, for good (`seccomp(2)`), by the prepared filter. It must have
/// given up privileges. Returns 0, or a negative `errno`.
int csandbox_filter_system_calls(void);

/// Limits the server of workers to the system calls that it, and what it forks, needs, for good. It must have given up
/// privileges. Returns 0, or a negative `errno`.
int csandbox_filter_server(void);

/// Takes the file system and the network away, as far as the kernel's Landlock knows them. Returns 0, or a negative
/// `errno`: `ENOSYS` or `EOPNOTSUPP` where there is none.
int csandbox_deny_files(void);

/// `PR_SET_NO_NEW_PRIVS`; and no other process of the user looks into this one (`PR_SET_DUMPABLE`). Returns whether
/// privileges are out of reach.
int csandbox_give_up_privileges(void);

/// Sends one message with up to two descriptors (`sendmsg(2)`).
ssize_t csandbox_send(int socket, const void *bytes, size_t count, const int *descriptors, int number);

/// Receives one message with up to two descriptors (`recvmsg(2)`). `number` is set to how many came.
ssize_t csandbox_receive(int socket, void *bytes, size_t capacity, int *descriptors, int *number);

/// Starts a program that has a socket as its descriptor 3, nothing as its input and output, and no other descriptor. Its
/// standard error is this process's or nothing. Returns 0 or an `errno`.
int csandbox_spawn(
    const char *path, char *const arguments[], char *const environment[], int socket, int keeps_errors, pid_t *pid);

/// Starts a program without arguments, in a process group of its own: nothing is its input, a pipe its output and its standard
/// error, and it has no other descriptor. `output` is set to the end of the pipe to read from. Returns 0 or an `errno`.
int csandbox_spawn_program(const char *path, char *const environment[], int *output, pid_t *pid);

/// Forks this process, which must have a single thread, so that the copy is a child of this one's parent, which is the one
/// to wait for it. Returns as `fork(2)` does. That cannot set the flag; and what it does for other threads is not needed.
pid_t csandbox_fork_sibling(void);

/// Has the kernel kill this process when the thread of its parent ends that has started it, or the one that it was forked
/// from (`PR_SET_PDEATHSIG`). Returns whether the parent, by its number, is there still.
int csandbox_end_with(pid_t parent);

/// Waits until a child has ended; it can be waited for still, so that its number stays its own.
void csandbox_await_end(pid_t pid);

/// Waits for the end of a child. Returns its exit status, or 256 and the number of the signal that ended it; -1 with
/// `errno`.
int csandbox_wait(pid_t pid);

/// Whether a child has ended; it can be waited for still.
int csandbox_has_ended(pid_t pid);

/// Changes the soft limit of another process; the hard one stays. Returns 0, or -1 with `errno`.
int csandbox_set_limit(pid_t pid, int resource, unsigned long long value);

/// Reads the soft limit of another process; 0 when that fails.
unsigned long long csandbox_limit(pid_t pid, int resource);

/// Sets both limits of this process. Limits that are lower stay.
void csandbox_limit_self(int resource, unsigned long long soft, unsigned long long hard);

/// Has the process tell a lack of memory from other fatal errors, and not end by signals that are sent to its whole
/// process group or service: its parent decides.
void csandbox_handle_signals(void);
