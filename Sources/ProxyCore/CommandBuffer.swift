/// The commands of one step, in order: a count and places for them, never an array that is allocated.
package struct CommandBuffer: ~Copyable {
    package private(set) var count = 0
    private var commands: InlineArray<8, ExchangeCommand> = .init(repeating: .finish)

    package init() {}

    package subscript(index: Int) -> ExchangeCommand {
        precondition(index < count, "no such command")
        return commands[index]
    }

    package mutating func removeAll() { count = 0 }

    mutating func append(_ command: ExchangeCommand) {
        commands[count] = command
        count += 1
    }
}
