import RESPWire
import TextCoding

extension ValueForm where Value == EngineURL {
    static let engine = text(
        "the URL of an engine, such as redis://cache.example:6379, without user and password",
        schema: .pattern("^rediss?://[^/?#@]+/?$"), isSecret: true,
        parse: { try? EngineURL($0) },  // the message says what is expected
        show: { .text($0.description) })
}
