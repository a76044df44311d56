import Glibc

/// The open file of a part. Closed when the last reference is released.
final class PartFile {
    let length: UInt64
    private let descriptor: Int32
    private let path: String

    /// - Throws: `unreadableFile` if the file is missing, is not a regular file, or may not be read.
    init(_ path: String) throws(RequestSerializationError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw RequestSerializationError(.unreadableFile, path) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw RequestSerializationError(.unreadableFile, path)
        }
        self.descriptor = descriptor
        self.path = path
        length = UInt64(facts.st_size)
    }

    deinit { close(descriptor) }

    /// - Returns: an empty array at the end of the file.
    func read(upTo count: Int) throws(RequestSerializationError) -> [UInt8] {
        var failed = false
        let octets = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var result = Glibc.read(descriptor, buffer.baseAddress, count)
            while result < 0 && errno == EINTR { result = Glibc.read(descriptor, buffer.baseAddress, count) }
            failed = result < 0
            initialized = max(result, 0)
        }
        if failed { throw RequestSerializationError(.unreadableFile, path) }
        return octets
    }
}
