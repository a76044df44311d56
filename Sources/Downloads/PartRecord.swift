import CommandSupport
import Foundation
import HTTPSession

/// What is known of a part, beside it: so that another process may go on with it, and never with what is not certain.
struct PartRecord: Codable, Equatable {
    static let version = 1
    /// Of the file that has it: extents are few.
    static let lengthLimit = 1 << 20

    var version = PartRecord.version
    /// The strong entity tag.
    var tag: String
    var total: UInt64?
    /// The bytes that are there: each from its first to behind its last.
    var extents: [[UInt64]]
    /// Of the run of the system in which it was written.
    var boot: String
    /// Whether all of it was brought to the disk. Else it holds only until the system ends.
    var isOnDisk: Bool
    /// The name that was suggested.
    var name: String
    /// Whether what is there reaches to the end of the file, however long that is by now: one writer alone adds to it, always at its end.
    /// So the first bytes are noted down, and no others before a `kill -9` need be. Not of what only the disk remembers.
    var grows: Bool?
    /// The lines of Repr-Digest that came with it.
    var digests: [String]?
    /// Whether any of it came from the store.
    var isFromStore: Bool?

    /// - Returns: `nil` where there is none, or none that can be believed.
    static func read(_ path: String, boot: String) -> PartRecord? {
        guard let octets = owned(path), let record = try? JSONDecoder().decode(PartRecord.self, from: Data(octets)),
            record.version == version, record.isOnDisk || record.boot == boot,
            // Whoever has brought the file here: it leads nowhere, and puts nothing into a request.
            record.name.isEmpty || SuggestedName.isSafe(record.name), record.tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return record
    }

    /// What stands in a file of ours: in a folder that is everybody's another may be somebody else's.
    private static func owned(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid(), facts.st_mode & S_IFMT == S_IFREG,
            facts.st_size <= lengthLimit
        else { return nil }
        // What cannot be read is as good as not there.
        return (try? file.readToEnd()).map(Array.init)
    }

    /// Where it cannot be written the part is of no use to another process, and no worse to this one.
    func write(_ path: String) {
        guard let data = try? JSONEncoder().encode(self) else { return }  // it has nothing that cannot be encoded
        let hidden = path + ".new"
        let descriptor = open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let code = Descriptor.write(Array(data)[...], to: descriptor)
        let isWritten = code == 0 && (!isOnDisk || fsync(descriptor) == 0)
        close(descriptor)
        if !isWritten || rename(hidden, path) != 0 { unlink(hidden) }
    }

    /// Tells one run of the system from the next.
    static func currentBoot() -> String {
        let octets = try? LocalFile.bytes(at: "/proc/sys/kernel/random/boot_id", atMost: 100)  // none is as good as a name
        return String(decoding: octets ?? [], as: UTF8.self)
    }

    /// What is there, of a part that is so long; `nil` where that cannot be.
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
