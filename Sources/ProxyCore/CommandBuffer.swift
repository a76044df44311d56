/// The commands of one step, in order. They are stored inline, without allocating an array.
@usableFromInline
package struct CommandBuffer: ~Copyable {
    @usableFromInline package internal(set) var count: Int
    @usableFromInline var commands: InlineArray<8, ExchangeCommand>

    @inlinable
    package init() {
        count = 0
        commands = .init(repeating: .finish)
    }

    @inlinable
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
