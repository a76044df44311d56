import HTTPMessage

/// A head as it would be sent on, part by part, so that it can be read once more and compared.
enum WrittenHead {
    static func write(_ head: RequestHead, into output: inout [UInt8]) {
        output.append(head.span(of: head.methodName))
        output.append(ASCII.space)
        output.append(head.span(of: head.rawTarget))
        output.append(ASCII.space)
        write(head.version, into: &output)
        output.append("\r\n")
        write(head.fields, into: &output)
    }

    static func write(_ head: ResponseHead, into output: inout [UInt8]) {
        write(head.version, into: &output)
        output.append(ASCII.space)
        output.append(decimal: UInt64(head.status.code))
        output.append(ASCII.space)
        output.append(head.span(of: head.reason))
        output.append("\r\n")
        write(head.fields, into: &output)
    }

    private static func write(_ fields: Fields, into output: inout [UInt8]) {
        for line in fields.lines { fields.write(line, into: &output) }
        output.append("\r\n")
    }

    private static func write(_ version: HTTPVersion, into output: inout [UInt8]) {
        output.append("HTTP/")
        output.append(0x30 + version.major)
        output.append(UInt8(ascii: "."))
        output.append(0x30 + version.minor)
    }
}
