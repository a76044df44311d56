#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Swift builds the C library's module without _GNU_SOURCE. If it were defined here, the types of the two modules would differ, so the
// GNU extensions are declared here again. Swift files that read errno also import Glibc.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
extern ssize_t splice(int from, __off64_t *from_offset, int to, __off64_t *to_offset, size_t count, unsigned int flags);
extern int pipe2(int descriptors[2], int flags);
extern void *memmem(const void *haystack, size_t haystack_count, const void *needle, size_t needle_count);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int unshare(int flags);
extern int setns(int descriptor, int type);
extern int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *deadline);

// The process's environment. Swift does not allow access to `environ`, because it is a mutable global variable.
static inline char **larder_variables(void) {
    extern char **environ;
    return environ;
}

// These functions tell ThreadSanitizer about locks that it cannot observe. They exist only in builds with ThreadSanitizer.
extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

// Gives the calling thread the policy SCHED_BATCH: when it wakes, it does not preempt other threads. Linux applies the call to the
// thread, not to the process, and always permits it. If it fails nevertheless, only this advantage is lost.
static inline void larder_interrupt_nobody(void) {
    struct sched_param parameter = {0};
    const int batch = 3;  // SCHED_BATCH, which is declared only with _GNU_SOURCE.
    sched_setscheduler(0, batch, &parameter);
}

// Waits, within one process, until `larder_futex_wake` is called or the deadline has passed. Returns at once if `*word` is no longer
// `seen`. The deadline is a time of CLOCK_MONOTONIC; NULL means no deadline. Returns 0 after a wake-up, otherwise an errno: EAGAIN if
// `*word` was not `seen`, ETIMEDOUT, or EINTR.
static inline int larder_futex_wait(uint32_t *word, uint32_t seen, const struct timespec *deadline) {
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, deadline, 0, FUTEX_BITSET_MATCH_ANY);
    return result == 0 ? 0 : errno;
}
static inline void larder_futex_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, 0, 0, 0); }
static inline uint32_t larder_futex_read(uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static inline void larder_futex_count(uint32_t *word) { __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST); }

// Prevents core files of this process, and allows only root's processes to read its memory. If `is_lent`, only the soft limit for core
// files is lowered, so that the former limit can be restored for a child. Returns 0 if both succeed.
static inline int larder_forbid_dumps(int is_lent) {
    struct rlimit none = {0, 0};
    if (is_lent && getrlimit(RLIMIT_CORE, &none) == 0) none.rlim_cur = 0;
    int core = setrlimit(RLIMIT_CORE, &none);
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) | core;
}

// Makes the C library return freed memory to the system: blocks of at least `block` bytes, which get pages of their own, and free memory
// at a heap's end of at least `end` bytes. Without this call, the C library raises both thresholds when it frees a larger block, and keeps
// that much free memory. Returns 1 if both settings are accepted, otherwise 0.
static inline int larder_give_back_blocks(int block, int end) {
    return mallopt(M_MMAP_THRESHOLD, block) & mallopt(M_TRIM_THRESHOLD, end);
}

// How much memory the C library's allocator has allocated to callers, and how much it has obtained from the system, in bytes.
static inline void larder_allocator_bytes(size_t *given, size_t *held) {
    struct mallinfo2 info = mallinfo2();
    *given = info.uordblks + info.hblkhd;
    *held = info.arena + info.hblkhd;
}

// Returns empty pages to the system, wherever they are in a heap. Holds each heap's lock meanwhile.
static inline void larder_give_back_pages(void) { malloc_trim(0); }

// The number of bytes that the processor fetches at once.
static const intptr_t larder_cache_line = 64;

// Tells the processor that these bytes will be read soon. Causes no fault, even if the address is invalid.
static inline void larder_prefetch(uintptr_t start, intptr_t count) {
    uintptr_t line = start & ~(uintptr_t)(larder_cache_line - 1);
    for (; line < start + count; line += larder_cache_line) __builtin_prefetch((const void *)line);
}

// epoll's event is a packed struct that contains a union, which is awkward to use from Swift.
static inline int larder_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}
static inline int larder_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}
static inline int larder_epoll_remove(int epoll, int descriptor) {
    struct epoll_event event = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}
static inline uint32_t larder_epoll_events(const struct epoll_event *events, int index) { return events[index].events; }
static inline uint64_t larder_epoll_token(const struct epoll_event *events, int index) { return events[index].data.u64; }

static const uint32_t larder_epollin = EPOLLIN;
static const uint32_t larder_epollout = EPOLLOUT;
static const uint32_t larder_epollrdhup = EPOLLRDHUP;
static const uint32_t larder_epollhup = EPOLLHUP;
static const uint32_t larder_epollerr = EPOLLERR;
static const uint32_t larder_epollet = (uint32_t)EPOLLET;

static const unsigned int larder_splice_move = 1;      // SPLICE_F_MOVE
static const unsigned int larder_splice_nonblock = 2;  // SPLICE_F_NONBLOCK

// CLONE_NEWNET: a new network namespace, for the calling thread and its children.
static const int larder_new_network = 0x40000000;
// CLONE_NEWUSER and CLONE_NEWNS: new user and mount namespaces.
static const int larder_new_users = 0x10000000;
static const int larder_new_mounts = 0x00020000;
static const unsigned long larder_mount_bind = MS_BIND;
static const unsigned long larder_mounts_private = MS_REC | MS_PRIVATE;
static const unsigned long larder_mount_bind_tree = MS_BIND | MS_REC;
// Remounts one bind mount read-only. The other flags are those of the kernel's own file systems: they may be locked, so they must stay set.
static const unsigned long larder_mount_again_read_only = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

// Makes the mount at this path and all mounts below it read-only (mount_setattr(2), whose number is 442 on every architecture). Returns -1
// and sets errno on failure: ENOSYS before Linux 5.12.
static inline int larder_make_mounts_read_only(const char *path) {
    const int recursive = 0x8000;  // AT_RECURSIVE
    struct { uint64_t set, clear, propagation, users; } attributes = {.set = 1};  // MOUNT_ATTR_RDONLY
    return (int)syscall(442, AT_FDCWD, path, recursive, &attributes, sizeof attributes);
}

// Filters the system calls of this process and its children (seccomp(2)). SPEC_ALLOW avoids the mitigations against speculative execution
// with which old kernels slow filtered processes down. Needs CAP_SYS_ADMIN in the process's user namespace. Returns -1 and sets errno on
// failure.
static inline int larder_filter_system_calls(const struct sock_filter *instructions, unsigned short count) {
    struct sock_fprog program = {count, (struct sock_filter *)instructions};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

// Brings `lo` up in the network namespace of the calling thread. Returns -1 and sets errno on failure.
static inline int larder_raise_loopback(int descriptor) {
    struct ifreq request = {.ifr_name = "lo"};
    if (ioctl(descriptor, SIOCGIFFLAGS, &request) != 0) return -1;
    request.ifr_flags |= IFF_UP;
    return ioctl(descriptor, SIOCSIFFLAGS, &request);
}

// Gives `lo` a second address: with 127.0.0.1 alone, getaddrinfo(3) with AI_ADDRCONFIG treats the network as one without IPv4.
static inline int larder_add_loopback_address(int descriptor) {
    struct ifreq request = {.ifr_name = "lo:1"};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK + 1)}};
    memcpy(&request.ifr_addr, &address, sizeof address);
    return ioctl(descriptor, SIOCSIFADDR, &request);
}

// Makes every address of the family local in the network namespace of the calling thread, so that connections to any address end in this
// namespace. IPv4 connections come from 127.0.0.1. Returns -1 and sets errno if the route cannot be added.
static inline int larder_make_all_addresses_local(int family) {
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
        struct { struct rtattr head; uint32_t value; } link, source;
    } request = {
        .head = {.nlmsg_type = RTM_NEWROUTE, .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK},
        .route = {.rtm_family = family, .rtm_table = RT_TABLE_LOCAL, .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_HOST,
                  .rtm_type = RTN_LOCAL},
        .link = {{RTA_LENGTH(sizeof(uint32_t)), RTA_OIF}, if_nametoindex("lo")},
        .source = {{RTA_LENGTH(sizeof(uint32_t)), RTA_PREFSRC}, htonl(INADDR_LOOPBACK)},
    };
    request.head.nlmsg_len = family == AF_INET ? sizeof request : sizeof request - sizeof request.source;
    int link = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (link < 0) return -1;
    struct { struct nlmsghdr head; struct nlmsgerr error; char rest[256]; } response;
    int code = 0;
    if (send(link, &request, request.head.nlmsg_len, 0) < 0 || recv(link, &response, sizeof response, 0) < 0) code = errno;
    else if (response.head.nlmsg_type != NLMSG_ERROR) code = EPROTO;
    else code = -response.error.error;
    close(link);
    errno = code;
    return code == 0 ? 0 : -1;
}

// The sender of a datagram, and the local address that it was sent to (IP_PKTINFO, IPV6_PKTINFO): the response must come from that address.
struct larder_datagram_ends {
    struct sockaddr_storage peer;
    socklen_t peer_length;
    size_t control_length;
    union { struct cmsghdr header; char room[64]; } control;
};
static inline int larder_tell_datagram_ends(int socket, int family) {
    int one = 1;
    return family == AF_INET ? setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &one, sizeof one)
                             // IPV6_FREEBIND (78): the response may come from an address that no interface has.
                             : setsockopt(socket, IPPROTO_IPV6, 78, &one, sizeof one)
                                   || setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof one) ? -1 : 0;
}
static inline ssize_t larder_receive_datagram(int socket, void *octets, size_t length, struct larder_datagram_ends *ends) {
    struct iovec piece = {octets, length};
    struct msghdr message = {.msg_name = &ends->peer, .msg_namelen = sizeof ends->peer, .msg_iov = &piece, .msg_iovlen = 1,
                             .msg_control = &ends->control, .msg_controllen = sizeof ends->control};
    ssize_t result = recvmsg(socket, &message, 0);
    ends->peer_length = message.msg_namelen;
    ends->control_length = result < 0 ? 0 : message.msg_controllen;
    return result;
}
static inline ssize_t larder_answer_datagram(int socket, const void *octets, size_t length, struct larder_datagram_ends *ends) {
    struct iovec piece = {(void *)octets, length};
    struct msghdr message = {.msg_name = &ends->peer, .msg_namelen = ends->peer_length, .msg_iov = &piece, .msg_iovlen = 1,
                             .msg_control = ends->control_length ? &ends->control : NULL, .msg_controllen = ends->control_length};
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Drops the capabilities with which root's program could enter another network namespace or another process: `execve` no longer grants
// them. The numbers are those of linux/capability.h. Returns -1 and sets errno if a capability cannot be dropped.
static inline int larder_drop_escape_capabilities(void) {
    // CAP_NET_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF.
    static const int dropped[] = {12, 16, 17, 19, 21, 38, 39};
    for (size_t index = 0; index < sizeof dropped / sizeof *dropped; index++) {
        int held = prctl(PR_CAPBSET_READ, dropped[index], 0, 0, 0);
        // Older kernels do not know the last two (EINVAL).
        if (held == 1 && prctl(PR_CAPBSET_DROP, dropped[index], 0, 0, 0) != 0) return -1;
    }
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
    struct { uint32_t version; int process; } head = {0x20080522, 0};
    struct { uint32_t effective, permitted, inheritable; } sets[2];
    if (syscall(SYS_capget, &head, sets) != 0) return -1;
    sets[0].inheritable = sets[1].inheritable = 0;
    return (int)syscall(SYS_capset, &head, sets);
}

// Sends descriptors and one byte to the process at the other end of a Unix socket (SCM_RIGHTS, whose macros Swift does not import).
enum { larder_handed_limit = 12 };
static inline ssize_t larder_hand_over(int socket, char octet, const int *descriptors, int count) {
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int) * larder_handed_limit)]; } control = {0};
    if (count > larder_handed_limit) { errno = EINVAL; return -1; }
    struct iovec piece = {&octet, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(sizeof(int) * count)};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(&control.header), descriptors, sizeof(int) * count);
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}
// Receives bytes into `octets`, and the descriptors sent with them into `descriptors`; `count` is the number of descriptors. The
// descriptors are close-on-exec.
static inline ssize_t larder_take_over(int socket, char *octets, size_t length, int *descriptors, int *count) {
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int) * larder_handed_limit)]; } control;
    struct iovec piece = {octets, length};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *count = 0;
    ssize_t result = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = result < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), sizeof(int) * *count);
    }
    return result;
}

// Swift does not import NLM_F_DUMP, because it is an expression.
static const int larder_netlink_dump = NLM_F_DUMP;

static const int larder_sock_stream = SOCK_STREAM;
static const int larder_sock_raw = SOCK_RAW;
static const int larder_sock_dgram = SOCK_DGRAM;
static const int larder_sock_nonblock = SOCK_NONBLOCK;
static const int larder_sock_cloexec = SOCK_CLOEXEC;
static const int larder_efd_nonblock = EFD_NONBLOCK;
static const int larder_efd_cloexec = EFD_CLOEXEC;
static const int larder_msg_nosignal = MSG_NOSIGNAL;
static const int larder_msg_more = MSG_MORE;
static const int larder_msg_dontwait = MSG_DONTWAIT;
static const int larder_msg_peek = MSG_PEEK;
static const int larder_msg_trunc = MSG_TRUNC;

// The process at the other end of a Unix socket, and its user: -1 if unknown. Linux's struct ucred is declared only with _GNU_SOURCE.
struct larder_peer { pid_t process; uid_t user; gid_t group; };
static inline int larder_read_peer(int descriptor, struct larder_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, peer, &length);
}
static inline int64_t larder_peer_user(int descriptor) {
    struct larder_peer peer;
    return larder_read_peer(descriptor, &peer) == 0 ? (int64_t)peer.user : -1;
}
static inline pid_t larder_peer_process(int descriptor) {
    struct larder_peer peer;
    return larder_read_peer(descriptor, &peer) == 0 ? peer.process : -1;
}

// Returns a descriptor that becomes readable when the process ends; -1 on failure, for example on an old kernel.
static inline int larder_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
