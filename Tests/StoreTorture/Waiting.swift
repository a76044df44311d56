import EventLoop

/// Runs a loop until one answer has come.
func wait<Value: Sendable>(_ ask: (Reply<Value>) -> Void) -> Value? {
    guard let loop = try? EventLoop() else { return nil }
    var answer: Value?
    ask(
        loop.reply { value in
            answer = value
            loop.stop()
        })
    loop.run()
    return answer
}
