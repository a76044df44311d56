import CLarderLinux
import Glibc
import Testing

@testable import CommandEnvironment

@Suite("The filter for the system calls of a command in its own network namespace (seccomp(2))")
struct SystemCallFilterTests {
    private enum Architecture: UInt32, CaseIterable {
        case x86 = 0xC000_003E
        case i386 = 0x4000_0003
        case aarch64 = 0xC000_00B7
        case arm = 0x4000_0028
    }

    private struct Call: CustomStringConvertible {
        let architecture: Architecture
        let number: UInt32
        var arguments: [UInt64] = []
        /// 0: the kernel makes the call.
        let code: Int32

        var description: String { "\(architecture) \(number) \(arguments)" }
    }

    private struct Endless: Error {}

    /// Interprets the program as the kernel does.
    /// - Returns: its verdict.
    private static func verdict(architecture: UInt32, number: UInt32, arguments: [UInt64]) throws -> UInt32 {
        let program = SystemCallFilter().instructions
        // `struct seccomp_data` in 32-bit words: the instruction pointer is not used.
        var words = [number, architecture, 0, 0]
        for index in 0..<6 {
            let argument = index < arguments.count ? arguments[index] : 0
            words += [UInt32(truncatingIfNeeded: argument), UInt32(argument >> 32)]
        }
        var accumulator: UInt32 = 0
        var place = 0
        while place < program.count {
            let instruction = program[place]
            place += 1
            switch Int32(instruction.code) {
            case BPF_LD | BPF_W | BPF_ABS: accumulator = words[Int(instruction.k / 4)]
            case BPF_ALU | BPF_AND | BPF_K: accumulator &= instruction.k
            case BPF_JMP | BPF_JEQ | BPF_K: place += Int(accumulator == instruction.k ? instruction.jt : instruction.jf)
            case BPF_RET | BPF_K: return instruction.k
            default: throw Endless()
            }
        }
        throw Endless()
    }

    private static let vsock: UInt64 = 40
    /// TIOCSTI, TIOCLINUX; TCGETS.
    private static let (typing, pasting, reading): (UInt64, UInt64, UInt64) = (0x5412, 0x541C, 0x5401)

    @Test(
        "The filter refuses sockets of families that no namespace isolates, terminal input, io_uring and keys, in each form of call",
        arguments: [
            (.x86, socket: 41, ioctl: 16, ring: 425, key: 249), (.i386, 359, 54, 425, 287), (.aarch64, 198, 29, 425, 218),
            (.arm, 281, 54, 425, 310), (.x86, 41 | 0x4000_0000, 514 | 0x4000_0000, 425 | 0x4000_0000, 249 | 0x4000_0000),
        ] as [(Architecture, socket: UInt32, ioctl: UInt32, ring: UInt32, key: UInt32)])
    private func refuses(_ form: (Architecture, socket: UInt32, ioctl: UInt32, ring: UInt32, key: UInt32)) throws {
        var calls: [Call] = []
        func add(_ number: UInt32, _ arguments: [UInt64], _ code: Int32) {
            calls.append(Call(architecture: form.0, number: number, arguments: arguments, code: code))
        }
        // Bluetooth, vsock, QIPCRTR, SMC; the kernel ignores the upper half.
        for family in [31, Self.vsock, 42, 43, Self.vsock | 1 << 32, 2 | 1 << 8] as [UInt64] {
            add(form.socket, [family], EAFNOSUPPORT)
        }
        for family in [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG] { add(form.socket, [UInt64(family)], 0) }
        for request in [Self.typing, Self.pasting, Self.typing | 1 << 32] { add(form.ioctl, [0, request], EPERM) }
        for request in [Self.reading, 0x5413, 0] { add(form.ioctl, [Self.typing, request], 0) }
        add(form.ring, [8], ENOSYS)
        add(form.key, [], ENOSYS)
        add(3, [Self.vsock, Self.typing], 0)
        for call in calls {
            let verdict = try Self.verdict(
                architecture: call.architecture.rawValue, number: call.number, arguments: call.arguments)
            let expected = call.code == 0 ? UInt32(SECCOMP_RET_ALLOW) : UInt32(SECCOMP_RET_ERRNO) | UInt32(call.code)
            #expect(verdict == expected, "\(call)")
        }
    }

    @Test(
        "i386 makes sockets by a call whose arguments a filter cannot read: sockets are refused, pairs and other calls are allowed"
    )
    func refusesSocketCalls() throws {
        for call in 1...20 as ClosedRange<UInt64> {
            let verdict = try Self.verdict(architecture: Architecture.i386.rawValue, number: 102, arguments: [call])
            let isRefused = verdict == UInt32(SECCOMP_RET_ERRNO) | UInt32(EAFNOSUPPORT)
            #expect(call == 1 ? isRefused : verdict == UInt32(SECCOMP_RET_ALLOW), "\(call)")
        }
    }

    @Test("Calls of an unknown architecture fail, and the program ends for every call")
    func refusesOthers() throws {
        #expect(try Self.verdict(architecture: 8, number: 41, arguments: []) == UInt32(SECCOMP_RET_ERRNO) | UInt32(ENOSYS))
        for architecture in Architecture.allCases {
            for number in 0...600 as ClosedRange<UInt32> {
                #expect(throws: Never.self) {
                    try Self.verdict(architecture: architecture.rawValue, number: number, arguments: [])
                }
            }
        }
    }
}
