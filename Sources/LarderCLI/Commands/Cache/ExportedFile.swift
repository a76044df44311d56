import ArgumentParser
import CommandSupport
import Foundation
import TextCoding

/// A file that only its owner can access, written sequentially. An error is reported once, by `check` or `close`.
final class ExportedFile {
    private let path: String
    private let descriptor: Int32
    private var error: Int32 = 0
    private var isOpen = true

    /// - Throws: exit code 1, after reporting why the file cannot be created.
    init(_ path: String) throws(ExitCode) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw ExportedFile.fail(path, errno) }
    }

    deinit { if isOpen { _ = Foundation.close(descriptor) } }

    /// Writes nothing if an earlier write failed.
    func write(_ bytes: ArraySlice<UInt8>) {
        if error == 0 { error = Descriptor.write(bytes, to: descriptor) }
    }

    /// - Throws: exit code 1, after reporting why the file could not be written.
    func check() throws(ExitCode) {
        if error != 0 { throw ExportedFile.fail(path, error) }
    }

    func close() throws(ExitCode) {
        isOpen = false
        if Foundation.close(descriptor) != 0, error == 0 { error = errno }
        try check()
    }

    private static func fail(_ path: String, _ code: Int32) -> ExitCode {
        Terminal.talk("larder: cannot write \(printable(path, limit: 4096)): \(String(cString: strerror(code)))\n")
        return .failure
    }
}
