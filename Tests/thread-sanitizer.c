// Tells the thread sanitizer of the slow path of Synchronization.Mutex. That lies in a library of the toolchain that is not
// instrumented: without this the sanitizer does not see that a contended lock orders its holders, and reports what one hands
// over to the other. For LD_PRELOAD: it takes the place of the library's functions, and calls them. In a program without the
// sanitizer it does nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

// As Swift calls a method: `self`, the lock's word, is in a register of its own.
#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define SYMBOL(name) "$s15Synchronization12_MutexHandleV" name

METHOD void lock_slow(uint32_t thread, SELF) __asm__(SYMBOL("9_lockSlowyys6UInt32VF"));
METHOD bool try_lock_slow(SELF) __asm__(SYMBOL("12_tryLockSlowSbyF"));
METHOD void unlock_slow(SELF) __asm__(SYMBOL("11_unlockSlowyyF"));

static METHOD void (*real_lock)(uint32_t, SELF);
static METHOD bool (*real_try_lock)(SELF);
static METHOD void (*real_unlock)(SELF);

__attribute__((constructor)) static void begin(void) {
  real_lock = (__typeof__(real_lock))dlsym(RTLD_NEXT, SYMBOL("9_lockSlowyys6UInt32VF"));
  real_try_lock = (__typeof__(real_try_lock))dlsym(RTLD_NEXT, SYMBOL("12_tryLockSlowSbyF"));
  real_unlock = (__typeof__(real_unlock))dlsym(RTLD_NEXT, SYMBOL("11_unlockSlowyyF"));
}

METHOD void lock_slow(uint32_t thread, SELF) {
  real_lock(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

METHOD bool try_lock_slow(SELF) {
  bool is_locked = real_try_lock(self);
  if (is_locked && __tsan_acquire) __tsan_acquire(self);
  return is_locked;
}

METHOD void unlock_slow(SELF) {
  if (__tsan_release) __tsan_release(self);
  real_unlock(self);
}
