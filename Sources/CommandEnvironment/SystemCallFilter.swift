import CLarderLinux

/// The system calls that a command in its own network namespace may not make, as a program for the kernel (seccomp(2)).
///
/// It refuses calls that reach outside the network namespace and that no other namespace separates. A refused call fails as on a kernel
/// without the feature, so that programs that try it continue.
struct SystemCallFilter {
    let instructions: [sock_filter]

    /// The filter program for this process. It checks the architecture of each call, so that one program serves all architectures.
    init() {
        var instructions = [Self.load(Self.architectureOffset)]
        for architecture in Self.architectures {
            let calls = architecture.instructions
            instructions += [Self.skip(UInt8(calls.count), unless: architecture.number)] + calls
        }
        instructions.append(Self.end(.fail(ENOSYS)))
        self.instructions = instructions
    }

    private enum Verdict {
        case allow
        case fail(Int32)
    }

    private struct Call {
        let number: UInt32
        let check: [sock_filter]
    }

    /// One of the interfaces through which a kernel accepts system calls. Each interface numbers its calls differently.
    private struct Architecture {
        /// The architecture's number in linux/audit.h.
        let number: UInt32
        /// The bits of a call's number that are compared.
        var mask = UInt32.max
        let calls: [Call]

        /// The filter's instructions for calls of this architecture; the last instruction returns a verdict.
        var instructions: [sock_filter] {
            let number = [
                SystemCallFilter.load(SystemCallFilter.numberOffset),
                SystemCallFilter.instruction(BPF_ALU | BPF_AND | BPF_K, mask),
            ]
            let checks = calls.flatMap { [SystemCallFilter.skip(UInt8($0.check.count), unless: $0.number)] + $0.check }
            return number + checks + [SystemCallFilter.end(.allow)]
        }
    }

    /// The calls' numbers are from each architecture's asm/unistd.h.
    private static let architectures = [
        // x86_64. Calls of x32 have one more bit set in their number, and a number of their own for ioctl.
        Architecture(
            number: 0xC000_003E, mask: ~0x4000_0000,
            calls: [Call(number: 41, check: socket), Call(number: 16, check: ioctl), Call(number: 514, check: ioctl)]
                + [Call(number: 249, check: requestKey), ring]),
        // i386. Its old interface makes all socket calls through one call, whose arguments are in memory, where the filter cannot read
        // them: programs that use this call get no socket.
        Architecture(
            number: 0x4000_0003,
            calls: [Call(number: 359, check: socket), Call(number: 102, check: socketCall), Call(number: 54, check: ioctl)]
                + [Call(number: 287, check: requestKey), ring]),
        // 64-bit ARM (aarch64).
        Architecture(
            number: 0xC000_00B7,
            calls: [Call(number: 198, check: socket), Call(number: 29, check: ioctl), Call(number: 218, check: requestKey), ring]),
        // 32-bit ARM.
        Architecture(
            number: 0x4000_0028,
            calls: [Call(number: 281, check: socket), Call(number: 54, check: ioctl), Call(number: 310, check: requestKey), ring]),
    ]

    /// A network namespace separates the sockets of these address families. Sockets of other families reach devices, or the host of this
    /// virtual machine (AF_VSOCK, AF_QIPCRTR).
    private static let socket = check(
        argument: 0,
        isAmong: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG].map { UInt32($0) },
        then: .allow, otherwise: .fail(EAFNOSUPPORT))

    /// `socketcall` with `SYS_SOCKET` (1) is refused. The other operations of `socketcall` need a socket, or make a pair of connected
    /// sockets.
    private static let socketCall = check(argument: 0, isAmong: [1], then: .fail(EAFNOSUPPORT), otherwise: .allow)

    /// TIOCSTI and TIOCLINUX (paste) type into the terminal, whose shell is outside.
    private static let ioctl = check(argument: 1, isAmong: [0x5412, 0x541C], then: .fail(EPERM), otherwise: .allow)

    /// To provide a key, the kernel runs a program outside the namespace, also for the key that contains a name's addresses
    /// (request_key(2)).
    private static let requestKey = [end(.fail(ENOSYS))]

    /// `io_uring_setup`: the kernel does not filter the requests in a ring, which can create sockets too.
    private static let ring = Call(number: 425, check: [end(.fail(ENOSYS))])

    /// Compares 32 bits: the kernel reads no more of these arguments.
    private static func check(
        argument: UInt32, isAmong values: [UInt32], then verdict: Verdict, otherwise other: Verdict
    ) -> [sock_filter] {
        let comparisons = values.enumerated().map { index, value in
            instruction(BPF_JMP | BPF_JEQ | BPF_K, value, isTrue: UInt8(values.count - index))
        }
        return [load(argumentsOffset + 8 * argument)] + comparisons + [end(other), end(verdict)]
    }

    // MARK: Instructions

    /// The offsets in `struct seccomp_data`. The lower half of a 64-bit argument comes first.
    private static let numberOffset: UInt32 = 0
    private static let architectureOffset: UInt32 = 4
    private static let argumentsOffset: UInt32 = 16

    private static func load(_ offset: UInt32) -> sock_filter { instruction(BPF_LD | BPF_W | BPF_ABS, offset) }

    private static func skip(_ count: UInt8, unless value: UInt32) -> sock_filter {
        instruction(BPF_JMP | BPF_JEQ | BPF_K, value, isFalse: count)
    }

    private static func end(_ verdict: Verdict) -> sock_filter {
        switch verdict {
        case .allow: instruction(BPF_RET | BPF_K, UInt32(SECCOMP_RET_ALLOW))
        case .fail(let code): instruction(BPF_RET | BPF_K, UInt32(SECCOMP_RET_ERRNO) | UInt32(code))
        }
    }

    private static func instruction(_ code: Int32, _ value: UInt32, isTrue: UInt8 = 0, isFalse: UInt8 = 0) -> sock_filter {
        sock_filter(code: UInt16(code), jt: isTrue, jf: isFalse, k: value)
    }
}
