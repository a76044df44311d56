import Foundation

/// The program that runs behind Larder: in this process's group, so that the terminal is its own.
package struct ChildProcess {
    /// Why there is none.
    package enum Failure: Error, Equatable {
        case missing
        /// With the reason.
        case notExecutable(String)
        /// For want of memory or processes, and not by the program's fault.
        case system(String)
    }

    private let process: pid_t
    private let signals: RunSignals

    /// - Parameters:
    ///   - command: not empty; its first word is looked for as a shell does.
    ///   - variables: those that are set for it; the others are as they were given.
    ///   - signals: are its own from now on.
    ///   - network: the one in which it runs; `nil`: in this process's.
    package init(
        _ command: [String], changing variables: [String: String], given: InheritedState, signals: RunSignals,
        in network: OwnNetwork?
    ) throws(Failure) {
        let path: String
        switch ProgramSearch(command[0], path: ProcessInfo.processInfo.environment["PATH"]) {
        case .found(let place): path = place
        case .notExecutable: throw .notExecutable("it is not an executable program")
        case .missing: throw .missing
        }
        let words = given.text.last(command)
        var changed = variables
        // A library that is to be loaded into the command is not for the helper.
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
            // What the kernel does not know is a shell's, as it is for a shell.
            return spawned("/bin/sh", ["sh", path].map { Array($0.utf8CString) } + words.dropFirst())
        }
        process = outcome.process
        self.signals = signals
        switch outcome.code {
        case 0: return
        case EAGAIN, ENOMEM, EMFILE, ENFILE: throw .system(String(cString: strerror(outcome.code)))
        case ENOENT: throw .notExecutable("the interpreter in its first line does not exist")
        default: throw .notExecutable(String(cString: strerror(outcome.code)))
        }
    }

    /// - Returns: its exit code; 128 and the signal's number where one ended it.
    package func waitForEnd() -> Int32 {
        var facts = siginfo_t()
        // It is left in the table of processes, so that no signal reaches another of its number.
        while waitid(P_PID, id_t(process), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        signals.takeBack()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // wait(2): the low seven bits are a signal's number, and the second byte is the code.
        let ending = status & 0x7F
        return ending == 0 ? status >> 8 & 0xFF : 128 + ending
    }

    /// - Parameter kept: descriptors of ours that it gets.
    /// - Returns: the process, or the error's number.
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
        // To itself: it stays open.
        for descriptor in kept { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }

        let arguments = words.map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process: pid_t = 0
        code = posix_spawn(&process, path, &actions, &attributes, arguments, environment)
        return (process, code)
    }
}
