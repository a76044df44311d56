import HTTPMessage
import Testing

@Suite("The opening handshake of WebSocket (RFC 6455 §4.2.2)")
struct WebSocketHandshakeTests {
    @Test(
        "A key is confirmed as RFC 6455 says, whatever its length",
        arguments: [
            ("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), ("a", "FtgH8qqfEKHvZKEZYEWkYDhlXNY="),
            ("", "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w="),
            (String(repeating: "k", count: 28), "x9bmfLYIxLMaaT5h0sFuRlAhhb8="),
            (String(repeating: "k", count: 100), "rWzVOVhJgr+k5nChyKqRW0+OIwk="),
        ])
    func confirms(key: String, accept: String) {
        #expect(String(decoding: WebSocketHandshake.accept(Array(key.utf8).span), as: UTF8.self) == accept)
    }
}
