import CommandSupport
import Foundation
import ProxyPolicy

/// Whether to use the settings of a project's folder.
package enum ProjectChoice: String, CaseIterable {
    /// Follow the user's decision (`larder project`). If there is none, use only settings that are harmless.
    case auto
    case allow, deny
}

/// A project folder's settings as one command uses them.
package struct ProjectSettings: Sendable {
    let folder: ProjectFolder
    let choice: ProjectChoice
    /// Whether the command replays. Then no rule can forward a request.
    let isReplayed: Bool

    /// The same settings, to be read as if the user had not decided about the project.
    package var undecided: ProjectSettings {
        var settings = self
        settings.ignoresDecisions = true
        return settings
    }
    private var ignoresDecisions = false

    package init(folder: ProjectFolder, choice: ProjectChoice, isReplayed: Bool) {
        self.folder = folder
        self.choice = choice
        self.isReplayed = isReplayed
    }

    /// The user's decision about the project's files as they are now.
    package enum Status: Equatable {
        /// The user has not decided about these files.
        /// - Parameter wasDecided: whether the user has decided about an earlier state of the files.
        case undecided(wasDecided: Bool)
        case allowed(digest: String)
        case denied
    }

    /// - Parameter policy: the content of the policy file as it was read.
    package static func standing(
        of folder: ProjectFolder, policy: [UInt8], _ environment: [String: String]
    ) throws(ProjectDecisions.Failure) -> Status {
        // If no folder for decisions is known, there is no decision.
        guard UserFolders(environment).state != nil, let decision = try ProjectDecisions(environment)[folder.path] else {
            return .undecided(wasDecided: false)
        }
        guard let digest = try? ProjectDigest.make(of: folder, policy: policy), digest == decision.digest else {
            return .undecided(wasDecided: true)
        }
        return decision.word == .allow ? .allowed(digest: digest) : .denied
    }

    /// The result of reading a project's settings, with the messages about it.
    struct Read {
        /// The project's settings; `nil` if none of them is used.
        let layer: SettingsLayer?
        /// A message about the settings that are used or ignored; `nil` if there is nothing to report.
        let notice: String?
        /// A warning that is reported even if the settings are refused.
        var warning: String?
        /// The digest of the project's files as they were read; `nil` if later changes do not matter.
        let digest: String?
    }

    /// - Throws: the problems in the project's settings, or in the file with the user's decisions.
    func read(_ environment: [String: String]) throws(SettingsProblems) -> Read {
        guard let bytes = try bytes() else { return Read(layer: nil, notice: nil, digest: nil) }
        let standing: Status
        switch choice {
        case .deny: return Read(layer: nil, notice: "\(folder.policy) is ignored (--project-settings=deny)", digest: nil)
        case .allow:
            let notice = "all settings of this project are active: \(folder.policy) (--project-settings=allow)"
            return Read(layer: try layer(bytes, .whole), notice: notice, digest: nil)
        case .auto:
            do throws(ProjectDecisions.Failure) {
                standing =
                    ignoresDecisions
                    ? .undecided(wasDecided: false) : try Self.standing(of: folder, policy: bytes, environment)
            } catch { throw Self.problem(error.reason) }
        }
        switch standing {
        case .denied: return Read(layer: nil, notice: "\(folder.policy) is ignored (larder project deny)", digest: nil)
        case .allowed(let digest):
            let notice = "all settings of this project are active: \(folder.policy) (larder project allow)"
            return Read(layer: try layer(bytes, .whole), notice: notice, digest: digest)
        case .undecided(let wasDecided):
            let layer = try layer(bytes, .restricted(ProjectTerms(project: folder.project, isReplayed: isReplayed)))
            let names = SettingsReader.names(in: layer.root)
            let notice = "settings of this project are active: \(folder.policy) (\(names.joined(separator: ", ")))"
            let change = "\(folder.policy): the project's files have changed since you allowed or denied them"
            return Read(layer: layer, notice: names.isEmpty ? nil : notice, warning: wasDecided ? change : nil, digest: nil)
        }
    }

    /// Whether the files still have this digest.
    func isUnchanged(since digest: String) -> Bool {
        guard let bytes = try? folder.readPolicy() else { return false }
        return (try? ProjectDigest.make(of: folder, policy: bytes)) == digest
    }

    private func bytes() throws(SettingsProblems) -> [UInt8]? {
        do throws(LocalFile.Unreadable) {
            return try folder.readPolicy()
        } catch { throw Self.problem(error.reason) }
    }

    private func layer(_ bytes: [UInt8], _ use: SettingsLayer.Use) throws(SettingsProblems) -> SettingsLayer {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.problem("the file is not UTF-8") }
        var layer = SettingsLayer(name: folder.policy, root: try YAMLReader.read(text), folder: folder.path)
        layer.use = use
        return layer
    }

    static func problem(_ message: String) -> SettingsProblems {
        var problems = SettingsProblems()
        problems.add(message, path: "", at: .none)
        return problems
    }
}
