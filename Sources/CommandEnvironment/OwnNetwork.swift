import CLinux
import CommandSupport
import EventLoop
import Foundation
import ProxyServer

/// A network namespace that has only `lo`, and sockets in it that Larder listens on: a program in it has no other connection.
///
/// Only a process with a single thread can enter one. So this binary executes itself twice: `larder enter-network --make` makes the
/// namespace, opens the sockets, sends all and exits; `larder enter-network` enters it and executes the program.
package struct OwnNetwork {
    package let listener: ListeningSocket
    /// The sockets for clients that connect to origins; `nil` if they can reach only the listener.
    package let transparent: TransparentSockets?
    /// The names that have addresses, if each name has its own.
    package let names: ReservedNames?
    /// Descriptors for entering it: of the network namespace, and of its user namespace if it has its own.
    let namespaces: [Int32]
    /// The sockets for DNS queries, over UDP and TCP in turn.
    private let nameSockets: [Int32]
    private let hasIPv6: Bool
    /// Files to mount over others in it.
    private var mounts: [MountedFile] = []

    /// The executable for both steps.
    static let helper = "/proc/self/exe"
    /// The subcommand for both steps.
    package static let commandName = "enter-network"

    /// - Parameter folder: a folder for files that exist while the command runs.
    package init(reaching reach: NetworkReach, filesIn folder: PrivateFolder) throws(Refusal) {
        do throws(Refusal) {
            if reach != .listener { mounts = [try Self.resolver(in: folder)] }
            var sockets: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | larder_sock_cloexec, 0, &sockets) == 0 else {
                throw Refusal("socketpair", errno)
            }
            defer { close(sockets[0]) }
            let begun = Result { () throws(Refusal) in try Self.begin(handingOverTo: sockets[1], reach: reach) }
            // While it is open here, the helper's exit would not be noticed.
            close(sockets[1])
            let helper = try begun.get()
            defer { while waitpid(helper, nil, 0) < 0, errno == EINTR {} }
            var descriptors: [Int32]
            (descriptors, namespaces) = try Self.takeOver(sockets[0])
            do throws(SystemError) {
                listener = try ListeningSocket(listening: descriptors.removeFirst())
                guard reach == .everywhere else {
                    (transparent, names, nameSockets, hasIPv6) = (nil, nil, descriptors, false)
                    return
                }
                // As `NetworkMaking.openEverywhere` opens them: for each family http, https, and two for names.
                var served: [ListeningSocket] = []
                for (index, descriptor) in descriptors.enumerated() where index % 4 < 2 {
                    served.append(try ListeningSocket(listening: descriptor))
                }
                let names = ReservedNames()
                transparent = TransparentSockets(served, names: names)
                self.names = names
                nameSockets = descriptors.enumerated().filter { $0.offset % 4 >= 2 }.map(\.element)
                hasIPv6 = descriptors.count > 4
            } catch { throw Refusal(reason: "\(error)") }
        } catch {
            throw Refusal(reason: "cannot create a network namespace for the command (--netns): \(error.reason)")
        }
    }

    /// Answers DNS queries from now on, for the life of this process.
    /// - Parameter server: decides by its active rules which names have addresses.
    package func serveNames(for server: ProxyServer) {
        let responder: NameResponder
        if let names {
            let hasIPv6 = hasIPv6
            responder = NameResponder { NameResolution(server.resolve($0, in: names), hasIPv6: hasIPv6) }
        } else {
            responder = NameResponder { _ in .addresses(ipv4: NetworkMaking.address, ipv6: nil) }
        }
        for (index, socket) in nameSockets.enumerated() {
            if index % 2 == 0 { responder.serve(datagramsAt: socket) } else { responder.serve(connectionsAt: socket) }
        }
    }

    /// The same network, in which programs without variables trust the CA certificates in these files too: the files are mounted over those
    /// of the system.
    package func trusting(_ files: ClientFiles) -> OwnNetwork {
        var network = self
        network.mounts += MountedFile.trust(files)
        return network
    }

    /// The variable that loads libraries into a program.
    package static let preload = "LD_PRELOAD"

    /// The helper's arguments for executing this program.
    /// - Parameter preload: the variable's value for the program.
    func words(to path: String, _ words: [[CChar]], preload: String?) -> [[CChar]] {
        var own = ["larder", Self.commandName]
        for descriptor in namespaces { own += ["--through", "\(descriptor)"] }
        if let preload { own += ["--preload", preload] }
        for mount in mounts { own += ["--file", mount.file, "--over", mount.place] }
        own += ["--", path]
        return own.map { Array($0.utf8CString) } + words
    }

    package struct Refusal: Error {
        package let reason: String

        init(reason: String) { self.reason = reason }
        init(_ call: String, _ code: Int32) { reason = "\(call): \(String(cString: strerror(code)))" }
    }

    /// Writes the file in which the C library finds its name server (resolv.conf(5)).
    private static func resolver(in folder: PrivateFolder) throws(Refusal) -> MountedFile {
        let path = "\(folder.path)/resolv.conf"
        do throws(WholeFile.Unwritten) {
            try folder.write(Array("nameserver \(NetworkMaking.addressText)\n".utf8), to: path)
        } catch { throw Refusal(reason: "writing \(path): \(error.reason)") }
        return MountedFile(file: path, place: MountedFile.resolverPlace)
    }

    private static func begin(handingOverTo socket: Int32, reach: NetworkReach) throws(Refusal) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var code = posix_spawn_file_actions_init(&actions)
        guard code == 0 else { throw Refusal("posix_spawn", code) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, socket)
        let said = ["larder", Self.commandName, "--make", "\(socket)", "--reach", reach.rawValue]
        let words = said.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        code = posix_spawn(&process, helper, &actions, nil, words, larder_variables())
        guard code == 0 else { throw Refusal("posix_spawn", code) }
        return process
    }

    /// - Returns: the sockets, the listener first, and the descriptors of the namespaces.
    private static func takeOver(_ socket: Int32) throws(Refusal) -> (sockets: [Int32], namespaces: [Int32]) {
        var octets = [CChar](repeating: 0, count: 512)
        var descriptors = [Int32](repeating: -1, count: larder_handed_limit)
        var count: Int32 = 0
        let read = larder_take_over(socket, &octets, octets.count, &descriptors, &count)
        guard read >= 0 else { throw Refusal("recvmsg", errno) }
        guard count >= 2 else {
            let reason = String(decoding: octets.prefix(read).map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw Refusal(reason: read == 0 ? "the helper process has ended" : reason)
        }
        let socketCount = Int(count) - Int(octets[0])
        return (Array(descriptors[..<socketCount]), Array(descriptors[socketCount..<Int(count)]))
    }
}
