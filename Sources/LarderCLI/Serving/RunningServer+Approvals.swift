import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ProxyPolicy
import ProxyServer

/// Permanent answers of approvers, as rules in the file that `approvals.file` names.
extension RunningServer {
    /// The path of that file; `nil` if the active settings name none.
    var approvalsFile: String? {
        guard let file = served.withLock({ $0.read.approvals.file }) else { return nil }
        let folder = readFiles.withLock { $0.file }.map { URL(filePath: $0).deletingLastPathComponent().path } ?? "."
        return ApprovalRules.path(of: file, in: folder)
    }

    /// Adds a rule to the file. The active rules need no reload, because Larder remembers the answer too.
    func writeApproval(
        of held: HeldRequest, _ answer: ApproverAnswer, _ ended: @escaping @Sendable (ApprovalRoutes.Writing) -> Void
    ) {
        inTurn(
            { () -> ApprovalRoutes.Writing in
                guard let path = self.approvalsFile, let match = held.scopes[answer.scope] else {
                    return .failed(reason: "approvals.file is not set any more")
                }
                let effect = answer.allows ? "\"allow\":{}" : "\"deny\":{\"reason\":\"denied by an approver\"}"
                let name = "\(answer.allows ? "allowed" : "denied") \(Hexadecimal.encode(padded: held.id))"
                do throws(WholeFile.Unwritten) {
                    try ApprovalRules.append("{\"name\":\"\(name)\",\"match\":\(match.text),\(effect)}", to: path)
                    return .done
                } catch {
                    return .failed(reason: error.reason)
                }
            }, ended)
    }
}

/// The file of permanent answers.
enum ApprovalRules {
    /// The maximum length of the file in bytes. A longer list of rules needs a person.
    private static let lengthLimit = 1 << 20
    private static let head =
        "# Rules from the answers of approvers (larder approvals). Larder adds further rules at the end.\nrules:\n"

    static func path(of file: String, in folder: String) -> String { file.hasPrefix("/") ? file : "\(folder)/\(file)" }

    /// Appends a rule, written as JSON. The file stays as it is if it would not be a valid list of rules.
    static func append(_ rule: String, to path: String) throws(WholeFile.Unwritten) {
        let isNew = !FileManager.default.fileExists(atPath: path)
        var former: [UInt8] = []
        if !isNew {
            do throws(LocalFile.Unreadable) {
                former = try LocalFile.bytes(at: path, atMost: lengthLimit)
            } catch {
                throw WholeFile.Unwritten(reason: "cannot read \(path): \(error.reason)")
            }
        }
        let isEmpty = former.isEmpty
        guard let text = String(validating: former, as: UTF8.self) else {
            throw WholeFile.Unwritten(reason: "\(path) is not UTF-8")
        }
        var next = isEmpty ? head : text.hasSuffix("\n") ? text : text + "\n"
        next += "  - \(rule)\n"
        let count = isEmpty ? 0 : RuleFileCheck.ruleCount(of: text)
        guard let count, RuleFileCheck.ruleCount(of: next) == count + 1 else {
            throw WholeFile.Unwritten(
                reason: "\(path) does not end with a list of rules, indented by two spaces, to which a rule can be added")
        }
        try WholeFile.write(next, to: path, replaces: !isNew, inPlaceOf: isNew ? nil : former)
    }
}
