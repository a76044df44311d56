import CLinux
import CommandSupport
import EventLoop
import Foundation
import ProxyServer

/// A network namespace that has only `lo`, and a socket in it that Larder listens on: a program in it has no other connection.
///
/// Only a process with a single thread can enter one. So this binary executes itself twice: `larder enter-network --make` makes the
/// namespace, opens the socket, sends both and exits; `larder enter-network` enters it and executes the program.
package struct OwnNetwork {
    package let listener: ListeningSocket
    /// Descriptors for entering it: of the network namespace, and of its user namespace if it has its own.
    let namespaces: [Int32]
    /// The file to mount over /etc/resolv.conf in it; `nil`: DNS queries get no answer there.
    private let resolver: String?

    /// The executable for both steps.
    static let helper = "/proc/self/exe"
    /// The subcommand for both steps.
    package static let commandName = "enter-network"

    /// - Parameter folder: a folder for files that exist while the command runs, if every name resolves to the listener's address in the
    ///   namespace; `nil` if no name resolves.
    package init(answeringNamesBy folder: PrivateFolder?) throws(Refusal) {
        do throws(Refusal) {
            resolver = try folder.map { folder throws(Refusal) in try Self.writeResolver(into: folder) }
            var sockets: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | larder_sock_cloexec, 0, &sockets) == 0 else {
                throw Refusal("socketpair", errno)
            }
            defer { close(sockets[0]) }
            let begun = Result { () throws(Refusal) in try Self.begin(handingOverTo: sockets[1], answersNames: folder != nil) }
            // While it is open here, the helper's exit would not be noticed.
            close(sockets[1])
            let helper = try begun.get()
            defer { while waitpid(helper, nil, 0) < 0, errno == EINTR {} }
            var descriptors = try Self.takeOver(sockets[0])
            do throws(SystemError) {
                listener = try ListeningSocket(listening: descriptors.removeFirst())
            } catch { throw Refusal(reason: "\(error)") }
            if folder != nil {
                let responder = NameResponder(address: NetworkMaking.address)
                responder.serve(datagramsAt: descriptors.removeFirst())
                responder.serve(connectionsAt: descriptors.removeFirst())
            }
            namespaces = descriptors
        } catch {
            throw Refusal(reason: "cannot create a network namespace for the command (--netns): \(error.reason)")
        }
    }

    /// The variable that loads libraries into a program.
    package static let preload = "LD_PRELOAD"

    /// The helper's arguments for executing this program.
    /// - Parameter preload: the variable's value for the program.
    func words(to path: String, _ words: [[CChar]], preload: String?) -> [[CChar]] {
        var own = ["larder", Self.commandName]
        for descriptor in namespaces { own += ["--through", "\(descriptor)"] }
        if let preload { own += ["--preload", preload] }
        if let resolver { own += ["--resolver", resolver] }
        own += ["--", path]
        return own.map { Array($0.utf8CString) } + words
    }

    package struct Refusal: Error {
        package let reason: String

        init(reason: String) { self.reason = reason }
        init(_ call: String, _ code: Int32) { reason = "\(call): \(String(cString: strerror(code)))" }
    }

    /// - Returns: the file in which the C library finds its name server (resolv.conf(5)).
    private static func writeResolver(into folder: PrivateFolder) throws(Refusal) -> String {
        let path = "\(folder.path)/resolv.conf"
        do throws(WholeFile.Unwritten) {
            try folder.write(Array("nameserver \(NetworkMaking.addressText)\n".utf8), to: path)
        } catch { throw Refusal(reason: "writing \(path): \(error.reason)") }
        return path
    }

    private static func begin(handingOverTo socket: Int32, answersNames: Bool) throws(Refusal) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var code = posix_spawn_file_actions_init(&actions)
        guard code == 0 else { throw Refusal("posix_spawn", code) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, socket)
        let said = ["larder", Self.commandName, "--make", "\(socket)"] + (answersNames ? ["--names"] : [])
        let words = said.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        code = posix_spawn(&process, helper, &actions, nil, words, larder_variables())
        guard code == 0 else { throw Refusal("posix_spawn", code) }
        return process
    }

    /// - Returns: the listening socket, the sockets for DNS queries if they were requested, and the descriptors of the namespaces.
    private static func takeOver(_ socket: Int32) throws(Refusal) -> [Int32] {
        var octets = [CChar](repeating: 0, count: 512)
        var descriptors = [Int32](repeating: -1, count: larder_handed_limit)
        var count: Int32 = 0
        let read = larder_take_over(socket, &octets, octets.count, &descriptors, &count)
        guard read >= 0 else { throw Refusal("recvmsg", errno) }
        guard count >= 2 else {
            let reason = String(decoding: octets.prefix(read).map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw Refusal(reason: read == 0 ? "the helper process has ended" : reason)
        }
        return Array(descriptors.prefix(Int(count)))
    }
}
