import Glibc
import HTTPMessage
import SQLiteDatabase
import ServerTrust

/// A snapshot as a folder of text files: `manifest.json`, a file for each recording in `recordings`, and bodies and certificate chains
/// in files named by their digests. A snapshot made from this folder has the same roots.
package enum TextFolder {
    /// The maximum length of one recording's text, in bytes.
    static let textLimit = 2 * SnapshotLimits.recordLength

    // MARK: Writing

    /// - Parameter path: a folder that does not exist yet.
    package static func write(_ snapshot: Snapshot, to path: String) throws(SnapshotError) {
        for folder in ["", "/recordings", "/bodies", "/chains"] {
            guard mkdir(path + folder, 0o700) == 0 else { throw FileBasics.failure("mkdir", path + folder) }
        }
        try writeFile(path + "/manifest.json") { (write) throws(SnapshotError) in try write(snapshot.manifest.text) }
        var written: Set<String> = []
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            try writeFile("\(path)/recordings/\(name(of: recording))") { (write) throws(SnapshotError) in
                try write(RecordingText.write(recording))
            }
            for (body, fields) in recording.bodies where body.isKept {
                let name = Hexadecimal.encode(body.digest.octets) + BodyName.suffix(for: fields)
                guard written.insert(name).inserted else { continue }
                try writeFile("\(path)/bodies/\(name)") { (write) throws(SnapshotError) in
                    let reader = try snapshot.body(body)
                    while let piece = try reader.next() { try write(piece) }
                }
            }
            if let chain = recording.chain, written.insert(Hexadecimal.encode(chain.octets)).inserted {
                try writeFile("\(path)/chains/\(Hexadecimal.encode(chain.octets))") { (write) throws(SnapshotError) in
                    try write(snapshot.chain(chain))
                }
            }
        }
    }

    /// The name of a recording's file: host, method and path for people, then a unique part that does not depend on the order of
    /// recording.
    private static func name(of recording: Recording) -> String {
        let uri = SplitURI(recording.request.uri)
        let host = uri.origin.drop { $0 != ASCII.slash }.dropFirst(2)
        var words = Array(host)
        words.append(ASCII.space)
        words += recording.request.method
        words += uri.path
        let readable = words.map { octet -> UInt8 in
            let isPlain = ASCII.isAlpha(octet) || ASCII.isDigit(octet) || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "-")
            return isPlain ? octet : UInt8(ascii: "_")
        }
        let key = Hexadecimal.encode(recording.identity.key.octets.prefix(8))
        return String(decoding: readable.prefix(120), as: UTF8.self) + "-\(key)-\(recording.generation)-\(recording.position).txt"
    }

    private static func writeFile(
        _ path: String, _ work: (_ write: (_ octets: [UInt8]) throws(SnapshotError) -> Void) throws(SnapshotError) -> Void
    ) throws(SnapshotError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileBasics.failure("open", path) }
        defer { close(descriptor) }
        try work { (octets) throws(SnapshotError) in
            var place = 0
            while place < octets.count {
                let count = octets.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + place, octets.count - place) }
                guard count >= 0 else { throw FileBasics.failure("write", path) }
                place += count
            }
        }
    }

    // MARK: Reading

    /// Makes a snapshot from a folder. The names of files are only used to open them; symlinks are not followed.
    package static func read(
        _ folder: String, to path: String, existing: SnapshotWriter.Existing = .refuse, signing key: SigningKey? = nil
    ) throws(SnapshotError) -> SnapshotRoots {
        let manifest = try Manifest(text: FolderFile.octets("\(folder)/manifest.json", limit: SnapshotLimits.manifestLength))
        let writer = try SnapshotWriter(path: path, existing: existing, manifest: manifest)
        do throws(SnapshotError) {
            try append(folder, to: writer)
            return try writer.finish(signing: key)
        } catch {
            writer.abandon()
            throw error
        }
    }

    private static func append(_ folder: String, to writer: SnapshotWriter) throws(SnapshotError) {
        let matcher = try RequestMatcher(writer.manifest.terms)
        var names: [(generation: UInt32, position: UInt32, name: String)] = []
        for name in try FolderFile.names(in: "\(folder)/recordings") where name.hasSuffix(".txt") {
            let recording = try parsed(folder, name).recording
            names.append((recording.generation, recording.position, name))
        }
        names.sort { ($0.generation, $0.position, $0.name) < ($1.generation, $1.position, $1.name) }
        for (_, _, name) in names {
            let text = try parsed(folder, name)
            var recording = text.recording
            for (body, _) in recording.bodies where body.isKept {
                let file = Hexadecimal.encode(body.digest.octets) + (text.suffixes[body.digest] ?? ".bin")
                guard try copy("\(folder)/bodies/\(file)", to: writer) == body else {
                    throw .malformed("\(file) does not match the digest and length of the body in \(name)")
                }
            }
            if let chain = recording.chain {
                let record = try FolderFile.octets(
                    "\(folder)/chains/\(Hexadecimal.encode(chain.octets))", limit: SnapshotLimits.chainLength)
                guard try writer.chain(record) == chain else {
                    throw .malformed("the certificate chain of \(name) does not match its digest")
                }
            }
            var request = RequestToMatch(
                method: recording.request.method, uri: recording.request.uri, fields: recording.request.fields)
            if let body = recording.request.body {
                let file = Hexadecimal.encode(body.digest.octets) + (text.suffixes[body.digest] ?? ".bin")
                request.body =
                    body.isKept
                    ? .octets(try FolderFile.octets("\(folder)/bodies/\(file)", limit: SnapshotLimits.requestBodyLength))
                    : .digest(body.digest, length: body.length)
            }
            guard let identity = matcher.identity(of: request, response: recording.response?.fields, under: nil) else {
                throw .holdsSecrets(name)
            }
            recording.identity = identity
            try writer.append(recording)
        }
    }

    private static func parsed(_ folder: String, _ name: String) throws(SnapshotError) -> RecordingText.Parsed {
        do throws(SnapshotError) {
            return try RecordingText.read(FolderFile.octets("\(folder)/recordings/\(name)", limit: textLimit))
        } catch {
            if case .malformed(let detail) = error { throw .malformed("\(name): \(detail)") }
            throw error
        }
    }

    private static func copy(_ path: String, to writer: SnapshotWriter) throws(SnapshotError) -> RecordedBody? {
        let body = writer.beginBody()
        try FolderFile.read(path) { (piece) throws(SnapshotError) in try body.append(piece) }
        return try body.finish()
    }
}

extension Recording {
    /// The bodies of the request and the response, each with the fields that describe it.
    var bodies: [(body: RecordedBody, fields: Fields)] {
        var bodies: [(body: RecordedBody, fields: Fields)] = []
        if let body = request.body { bodies.append((body, request.fields)) }
        if let response, let body = response.body { bodies.append((body, response.fields)) }
        return bodies
    }
}

/// Reads files of an untrusted folder: only regular files, and only up to a given length.
enum FolderFile {
    /// The maximum number of names in one folder.
    static let nameLimit = SnapshotLimits.recordings

    static func names(in folder: String) throws(SnapshotError) -> [String] {
        guard let directory = opendir(folder) else { throw FileBasics.failure("opendir", folder) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { place in
                place.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard names.count < nameLimit else { throw .tooLarge("recordings") }
            names.append(name)
        }
        return names.sorted()
    }

    static func octets(_ path: String, limit: Int) throws(SnapshotError) -> [UInt8] {
        var octets: [UInt8] = []
        try read(path) { (piece) throws(SnapshotError) in
            guard octets.count + piece.count <= limit else { throw .tooLarge(path) }
            octets.append(piece)
        }
        return octets
    }

    static func read(_ path: String, take: (Span<UInt8>) throws(SnapshotError) -> Void) throws(SnapshotError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileBasics.failure("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .malformed("\(path) is not a regular file")
        }
        var buffer = [UInt8](repeating: 0, count: SnapshotLimits.chunkLength)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return }
            guard count > 0 else { throw FileBasics.failure("read", path) }
            try take(buffer.span.extracting(0..<count))
        }
    }
}
