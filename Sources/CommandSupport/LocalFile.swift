import Foundation
import ProxyPolicy

/// A local file, read as a whole and up to a limit.
package enum LocalFile {
    /// Why the file cannot be read, for a message "cannot read …: REASON".
    package struct Unreadable: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// - Parameter mayBePipe: whether to wait for another program that writes into a pipe. A server must not wait.
    /// - Throws: an error also if the file is longer than the limit, or if the path is not a file.
    package static func bytes(at path: String, atMost limit: Int, mayBePipe: Bool = false) throws(Unreadable) -> [UInt8] {
        try whole { () throws(Unreadable) in
            let (handle, facts) = try opened(path, mayBePipe: mayBePipe)
            return try read(handle, facts, atMost: limit)
        }
    }

    /// How often a file that changes during a read is read again, and the pause in between in milliseconds. An editor that writes a file in
    /// place needs only a few attempts.
    private static let attempts = 20
    private static let pause: Int32 = 10

    /// Reads until the file does not change during a read.
    /// - Parameter attempt: reads the file once, and returns whether the file was the same before and after the read.
    package static func whole(
        _ attempt: () throws(Unreadable) -> (bytes: [UInt8], isUnchanged: Bool)
    ) throws(Unreadable) -> [UInt8] {
        for number in 1...attempts {
            let (bytes, isUnchanged) = try attempt()
            if isUnchanged { return bytes }
            if number < attempts { poll(nil, 0, pause) }
        }
        throw Unreadable(reason: "the file changed while Larder read it")
    }

    private static func read(
        _ handle: FileHandle, _ before: stat, atMost limit: Int
    ) throws(Unreadable) -> (bytes: [UInt8], isUnchanged: Bool) {
        let bytes = try bytes(from: handle, atMost: limit)
        guard before.st_mode & S_IFMT == S_IFREG else { return (bytes, true) }
        var after = stat()
        guard fstat(handle.fileDescriptor, &after) == 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
        func isSame(_ left: timespec, _ right: timespec) -> Bool { left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec }
        let isUnchanged =
            before.st_size == after.st_size && isSame(before.st_mtim, after.st_mtim) && isSame(before.st_ctim, after.st_ctim)
            && bytes.count >= Int(after.st_size)
        return (bytes, isUnchanged)
    }

    private static func opened(_ path: String, mayBePipe: Bool = false) throws(Unreadable) -> (handle: FileHandle, facts: stat) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw Unreadable(reason: String(cString: strerror(EISDIR)))
        default:
            // The pipe is opened again in blocking mode, to wait for a writer.
            guard mayBePipe else { throw Unreadable(reason: "not a regular file") }
            guard let waiting = FileHandle(forReadingAtPath: path) else {
                throw Unreadable(reason: String(cString: strerror(errno)))
            }
            return (waiting, facts)
        }
        return (handle, facts)
    }

    package static func bytes(from handle: FileHandle, atMost limit: Int) throws(Unreadable) -> [UInt8] {
        let data: Data
        do {
            data = try handle.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw Unreadable(reason: "the read failed")
        }
        if data.count > limit {
            throw Unreadable(reason: "the file is longer than \(SettingsQuantity.text(ofBytes: UInt64(limit)))")
        }
        return Array(data)
    }

    /// Reads the file like `bytes`, for a file with a secret.
    /// - Throws: an error also if users other than the owner can access the file.
    package static func secretBytes(at path: String, atMost limit: Int) throws(Unreadable) -> [UInt8] {
        try whole { () throws(Unreadable) in
            let (handle, facts) = try opened(path)
            guard facts.st_mode & 0o077 == 0 else {
                throw Unreadable(reason: "other users can access the file; restrict it with `chmod 600`")
            }
            return try read(handle, facts, atMost: limit)
        }
    }

    /// Reads the file like `bytes`, for a file that decides whom Larder trusts.
    /// - Throws: an error also if users other than the owner can change the file.
    package static func guardedBytes(at path: String, atMost limit: Int) throws(Unreadable) -> [UInt8] {
        try whole { () throws(Unreadable) in
            let (handle, facts) = try opened(path)
            guard facts.st_mode & 0o022 == 0 else {
                throw Unreadable(reason: "other users can change the file; restrict it with `chmod go-w`")
            }
            return try read(handle, facts, atMost: limit)
        }
    }

    /// The sorted names of the files in a folder with one of these endings, without hidden files.
    package static func names(in folder: String, endings: [String]) throws(Unreadable) -> [String] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return names.filter { name in !name.hasPrefix(".") && endings.contains { name.hasSuffix($0) } }.sorted()
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
            throw Unreadable(reason: cause.map { String(cString: strerror($0.code.rawValue)) } ?? "the read failed")
        }
    }
}
