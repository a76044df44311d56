import ArgumentParser
import Foundation
import ProxyPolicy
import ProxyServer

struct ApprovalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals", abstract: "List and answer the requests that wait for an approver.",
        discussion: """
            A rule with `ask` makes requests wait until an approver allows or denies them.

              larder approvals
              larder approvals allow 5f0c8a1b2d3e4f60
              larder approvals deny 5f0c8a1b2d3e4f60 --for run --scope host
            """,
        subcommands: [ApprovalsListCommand.self, ApprovalsAllowCommand.self, ApprovalsDenyCommand.self],
        defaultSubcommand: ApprovalsListCommand.self)
}

struct ApprovalsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the requests that wait for an approver, with their ids.")

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func run() throws { try RunningLarder.ask(try options.connect(), "GET", "/v1/approvals", form: format.output) }
}

/// The options of an answer.
struct AnswerOptions: ParsableArguments {
    @Argument(help: "The id of the request, from larder approvals.")
    var id: String

    @Option(
        name: .customLong("for"),
        help: "How long the answer applies: once, run (until Larder stops), or always (as a rule in approvals.file).")
    var lifetime = ApproverAnswer.Lifetime.once

    @Option(help: "To which requests an answer for more than one request applies: equal requests (request), or all to the host.")
    var scope = ApprovalScopes.Scope.request

    @OptionGroup var options: RunningOptions

    @OptionGroup var format: OutputOption

    func validate() throws {
        guard !id.isEmpty, id.utf8.count <= 16, id.allSatisfy(\.isHexDigit) else {
            throw ValidationError("The id must be hexadecimal digits, as larder approvals prints them.")
        }
    }

    func send(_ word: String) throws {
        try RunningLarder.ask(
            try options.connect(), "POST",
            "/v1/approvals?id=\(id)&answer=\(word)&for=\(lifetime.rawValue)&scope=\(scope.rawValue)", form: format.output)
    }
}

struct ApprovalsAllowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "allow", abstract: "Allow a request that waits.")

    @OptionGroup var answer: AnswerOptions

    func run() throws { try answer.send("allow") }
}

struct ApprovalsDenyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "deny", abstract: "Deny a request that waits.")

    @OptionGroup var answer: AnswerOptions

    func run() throws { try answer.send("deny") }
}

extension ApproverAnswer.Lifetime: ExpressibleByArgument {}
extension ApprovalScopes.Scope: ExpressibleByArgument {}
