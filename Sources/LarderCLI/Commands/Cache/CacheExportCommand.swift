import ArgumentParser
import CommandSupport
import Foundation
import ProxyAdmin
import ResponseStore
import TextCoding

struct CacheExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write stored responses into a folder: heads as NDJSON, contents as files.",
        discussion: """
            FOLDER/index.ndjson has one object for each response. FOLDER/bodies has one file for each complete response; its name is the \
            `row` in index.ndjson. Without --secrets, Larder leaves out Set-Cookie fields, and whole \
            responses to requests with Authorization.
            """)

    @Argument(help: "A folder that is empty or does not exist.")
    var folder: String

    @OptionGroup var filter: FilterWords
    @OptionGroup var place: CachePlace

    @Flag(help: "Include Set-Cookie fields, and responses to requests with Authorization.")
    var secrets = false

    func validate() throws {
        if folder.isEmpty { throw ValidationError("Give a folder.") }
    }

    func run() throws {
        let filter = try filter.value()
        let access = try place.open()
        let export = try CacheExport(folder: folder, secrets: secrets)
        switch access {
        case .running(let larder): try export.write(from: larder, filter)
        case .file(let file): try export.write(from: file, filter)
        }
        try export.close()
        Terminal.output("exported \(export.count)\n")
        if export.leftOut > 0 {
            Terminal.talk("larder: responses not exported, because the requests had Authorization: \(export.leftOut)\n")
        }
        if export.inPart > 0 {
            Terminal.talk("larder: responses exported without content, because only a part is stored: \(export.inPart)\n")
        }
        if export.gone > 0 {
            Terminal.talk(
                "larder: responses not exported, because they were removed from the store during the export: \(export.gone)\n")
        }
    }
}

/// The files that `larder cache export` writes into one folder.
final class CacheExport {
    private let folder: String
    private let secrets: Bool
    private let index: ExportedFile
    private(set) var count = 0
    private(set) var leftOut = 0
    private(set) var inPart = 0
    private(set) var gone = 0

    init(folder: String, secrets: Bool) throws {
        self.folder = folder
        self.secrets = secrets
        try CacheExport.makeFolder(folder)
        index = try ExportedFile("\(folder)/index.ndjson")
    }

    /// Fails unless everything was written.
    func close() throws { try index.close() }

    func write(from larder: RunningCache, _ filter: StoreFilter) throws {
        let entries = try larder.ask("GET", "entries", filter.parameters + [("output", "ndjson")])
        for line in entries.split(separator: "\n") {
            let entry = JSONAnswer(String(line))
            guard let row = entry["row"] as? Int, let url = entry["url"] as? String else { continue }
            let parameters = [("url", url), ("row", "\(row)")]
            let shown = secrets ? [("secrets", "shown")] : []
            guard let detail = try larder.askIfThere("GET", "response", parameters + shown + [("output", "json")]) else {
                gone += 1
                continue
            }
            let response = JSONAnswer(detail).first
            let isAuthorized = response?["authorized"] as? Bool ?? true
            let isPartial = response?["partial"] as? Bool ?? false
            try write(row, isAuthorized: isAuthorized, isPartial: isPartial, detail: CacheExport.line(detail)) { body in
                try larder.send("GET", "body", parameters) { body.write($0) }
            }
        }
    }

    func write(from file: StoreFileAccess, _ filter: StoreFilter) throws {
        try file.forEach(filter) { entry in
            guard let found = file.find(.row(entry.row))?.first else {
                gone += 1
                return
            }
            let detail = ResponseDetail(found, at: file.now, showsSecrets: secrets)
            let line = CacheExport.line(detail.json.written())
            try write(Int(entry.row), isAuthorized: detail.isAuthorized, isPartial: found.isPartial, detail: line) { body in
                let all = 0..<found.response.body.length
                try file.send(CacheAnswers.body(file.source, of: found.response, all)) { body.write($0) }
            }
        }
    }

    private func write(
        _ row: Int, isAuthorized: Bool, isPartial: Bool, detail: String, body: (ExportedFile) throws -> Void
    ) throws {
        guard secrets || !isAuthorized else {
            leftOut += 1
            return
        }
        if isPartial {
            inPart += 1
        } else {
            let file = try ExportedFile("\(folder)/bodies/\(row)")
            try body(file)
            try file.close()
        }
        index.write(Array((detail + "\n").utf8)[...])
        try index.check()
        count += 1
    }

    /// The JSON on one line, without the enclosing array. No string in the JSON contains a line break.
    private static func line(_ json: String) -> String {
        let line = json.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
        return line.hasPrefix("[") ? String(line.dropFirst().dropLast()).trimmingCharacters(in: .whitespaces) : line
    }

    /// The folder must be empty: files of an earlier export would be treated as files of this export.
    private static func makeFolder(_ folder: String) throws {
        let files = FileManager.default
        // If the folder cannot be read, creating `bodies` in it fails below, and that failure is reported.
        if let names = try? files.contentsOfDirectory(atPath: folder), !names.isEmpty {
            Terminal.talk("larder: \(printable(folder, limit: 4096)) is not empty\n")
            throw ExitCode.failure
        }
        do {
            try files.createDirectory(
                atPath: "\(folder)/bodies", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            Terminal.talk("larder: cannot create the folder \(printable(folder, limit: 4096))\n")
            throw ExitCode.failure
        }
    }
}
