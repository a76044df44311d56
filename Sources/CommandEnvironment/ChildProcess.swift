import Foundation

/// The program that `larder run` starts, in this process's process group, so that it can use the terminal.
package struct ChildProcess {
    /// Why the program could not be started.
    package enum Failure: Error, Equatable {
        case missing
        /// The associated value is the reason.
        case notExecutable(String)
        /// Too little memory or too many processes: not the program's fault.
        case system(String)
    }

    private let process: pid_t
    private let signals: RunSignals

    /// - Parameters:
    ///   - command: not empty; its first word is looked up as a shell does.
    ///   - variables: the variables to set; all others stay as inherited.
    ///   - signals: forwards signals to the program from now on.
    ///   - network: the network namespace of the program; `nil`: this process's.
    package init(
        _ command: [String], changing variables: [String: String], given: InheritedState, signals: RunSignals,
        in network: OwnNetwork?
    ) throws(Failure) {
        let path: String
        switch ProgramSearch(command[0], path: ProcessInfo.processInfo.environment["PATH"]) {
        case .found(let place): path = place
        case .notExecutable: throw .notExecutable("not an executable program")
        case .missing: throw .missing
        }
        let words = given.text.last(command)
        var changed = variables
        // If the command is started through a helper, a library to preload into the command must not be loaded into the helper.
        let preload = network.flatMap { _ in changed.removeValue(forKey: OwnNetwork.preload) }
        func spawned(_ path: String, _ words: [[CChar]]) -> (process: pid_t, code: Int32) {
            given.limits.lent {
                Self.spawn(path, words, given.text.variables(changing: changed), given, network?.namespaces ?? [])
            }
        }
        let outcome = signals.handOver {
            if let network { return spawned(OwnNetwork.helper, network.words(to: path, words, preload: preload)) }
            let outcome = spawned(path, words)
            guard outcome.code == ENOEXEC else { return outcome }
            // Runs a file as a shell script if the kernel does not know its format, as a shell does.
            return spawned("/bin/sh", ["sh", path].map { Array($0.utf8CString) } + words.dropFirst())
        }
        process = outcome.process
        self.signals = signals
        switch outcome.code {
        case 0: return
        case EAGAIN, ENOMEM, EMFILE, ENFILE: throw .system(String(cString: strerror(outcome.code)))
        case ENOENT: throw .notExecutable("the interpreter in the script's first line does not exist")
        default: throw .notExecutable(String(cString: strerror(outcome.code)))
        }
    }

    /// - Returns: the exit code, or 128 plus the number of the signal that ended the program.
    package func waitForEnd() -> Int32 {
        var facts = siginfo_t()
        // The process is not reaped yet, so that no signal reaches another process with the same ID.
        while waitid(P_PID, id_t(process), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        signals.takeBack()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // wait(2): the low seven bits are the signal's number, the second byte is the exit code.
        let ending = status & 0x7F
        return ending == 0 ? status >> 8 & 0xFF : 128 + ending
    }

    /// - Parameter kept: descriptors of this process that the program inherits.
    /// - Returns: the process ID, or an `errno`.
    private static func spawn(
        _ path: String, _ words: [[CChar]], _ variables: [[CChar]], _ given: InheritedState, _ kept: [Int32]
    ) -> (process: pid_t, code: Int32) {
        var attributes = posix_spawnattr_t()
        var code = posix_spawnattr_init(&attributes)
        guard code == 0 else { return (0, code) }
        defer { posix_spawnattr_destroy(&attributes) }
        var mask = given.signals.mask
        var usual = given.signals.ignoredHere
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        code = posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        guard code == 0 else { return (0, code) }
        given.descriptors.keepOthersBack()
        var actions = posix_spawn_file_actions_t()
        code = posix_spawn_file_actions_init(&actions)
        guard code == 0 else { return (0, code) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Duplicating a descriptor to itself keeps it open.
        for descriptor in kept { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }

        let arguments = words.map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process: pid_t = 0
        code = posix_spawn(&process, path, &actions, &attributes, arguments, environment)
        return (process, code)
    }
}
