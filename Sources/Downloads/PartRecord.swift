import CommandSupport
import Foundation
import LarderHTTP

/// The record beside a part, with which another process can resume the part and use only bytes that are known to be valid.
struct PartRecord: Codable, Equatable {
    static let version = 1
    /// The longest record, in bytes. Records are short, because a part has few extents.
    static let lengthLimit = 1 << 20

    var version = PartRecord.version
    /// The strong entity tag.
    var tag: String
    var total: UInt64?
    /// The bytes that are present, as pairs of start and end (exclusive).
    var extents: [[UInt64]]
    /// The ID of the system boot in which the record was written.
    var boot: String
    /// Whether all of the part was flushed to disk. If not, the record is valid only until the system stops.
    var isOnDisk: Bool
    /// The suggested name.
    var name: String
    /// Whether a single writer appends to the part. All bytes up to the end of the part's file are then present, even those written after
    /// the record. So one early record is enough to resume the part after a `kill -9`. Not used for parts that are flushed to disk.
    var grows: Bool?
    /// The Repr-Digest lines that were received with the part.
    var digests: [String]?
    /// Whether any byte came from the store.
    var isFromStore: Bool?

    /// - Returns: `nil` if there is no record, or none that can be trusted.
    static func read(_ path: String, boot: String) -> PartRecord? {
        guard let octets = owned(path), let record = try? JSONDecoder().decode(PartRecord.self, from: Data(octets)),
            record.version == version, record.isOnDisk || record.boot == boot,
            // The file may have been placed by another user: its name must not lead elsewhere, and its tag must not inject anything into a
            // request.
            record.name.isEmpty || SuggestedName.isSafe(record.name), record.tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return record
    }

    /// The content of the file if it belongs to this user: in a folder shared by all users it may be another user's.
    private static func owned(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid(), facts.st_mode & S_IFMT == S_IFREG,
            facts.st_size <= lengthLimit
        else { return nil }
        // An unreadable file is treated as absent.
        return (try? file.readToEnd()).map(Array.init)
    }

    /// If the record cannot be written, no later process can resume the part, but this process continues.
    func write(_ path: String) {
        guard let data = try? JSONEncoder().encode(self) else { return }  // encoding these values never fails
        let hidden = path + ".new"
        let descriptor = open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let code = Descriptor.write(Array(data)[...], to: descriptor)
        let isWritten = code == 0 && (!isOnDisk || fsync(descriptor) == 0)
        close(descriptor)
        if !isWritten || rename(hidden, path) != 0 { unlink(hidden) }
    }

    /// Identifies the boot of the system.
    static func currentBoot() -> String {
        // No bytes if the system has no boot ID.
        let octets = try? LocalFile.bytes(at: "/proc/sys/kernel/random/boot_id", atMost: 100)
        return String(decoding: octets ?? [], as: UTF8.self)
    }

    /// The present bytes of a part of this length; `nil` if the record does not fit.
    func done(of length: UInt64) -> Extents? {
        var ranges: [Range<UInt64>] = []
        for extent in extents {
            guard extent.count == 2, extent[0] < extent[1] else { return nil }
            ranges.append(extent[0]..<extent[1])
        }
        guard var done = Extents(ranges), done.end <= length, done.end <= total ?? .max else { return nil }
        if grows == true, !done.isEmpty { done.insert(done.end..<min(length, total ?? .max)) }
        return done
    }
}
