/* LD_PRELOAD: every fsync and fdatasync fails with EIO while the file that FSYNC_FAILS names exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int failing(void)
{
    const char *flag = getenv("FSYNC_FAILS");
    return flag && access(flag, F_OK) == 0;
}

#define SHIM(name)                                                  \
    int name(int fd)                                                \
    {                                                               \
        static int (*real)(int);                                    \
        if (!real)                                                  \
            real = dlsym(RTLD_NEXT, #name);                         \
        if (failing()) {                                            \
            errno = EIO;                                            \
            return -1;                                              \
        }                                                           \
        return real(fd);                                            \
    }

SHIM(fsync)
SHIM(fdatasync)
