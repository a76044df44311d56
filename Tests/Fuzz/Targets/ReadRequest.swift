import HTTPMessage
import HTTPWire

/// All that reading a request's head from bytes given in pieces comes to.
package enum ReadRequest: Equatable {
    case incomplete
    case refused(RequestParseError)
    case read(Head)

    package struct Head: Equatable {
        package var length: Int
        /// The head written again: what a forwarding proxy would send, in the version that came.
        package var written: [UInt8]
        package var bytes: [UInt8]
        package var lines: [FieldLine]
        package var target: RequestTarget
        package var framing: BodyFraming?
        package var framingError: RequestParseError?
    }

    /// - Parameter ends: how much of the bytes has been received at each read.
    package init(_ octets: [UInt8], ends: [Int], limits: ParseLimits) {
        var parser = RequestParser(limits: limits)
        var head = RequestHead()
        do throws(RequestParseError) {
            for end in ends {
                guard let length = try parser.parse(octets.span.extracting(0..<end).bytes, into: &head) else { continue }
                self = .read(Head(head, length: length))
                return
            }
            self = .incomplete
        } catch {
            self = .refused(error)
        }
    }
}

extension ReadRequest.Head {
    fileprivate init(_ head: RequestHead, length: Int) {
        self.length = length
        written = []
        WrittenHead.write(head, into: &written)
        bytes = head.fields.bytes
        lines = head.fields.lines
        target = head.target
        do throws(RequestParseError) {
            framing = try BodyFraming.ofRequest(head)
        } catch {
            framingError = error
        }
    }

    /// The name and value of every field, and where a place among them stands matters no more.
    package var fields: [[UInt8]] { lines.flatMap { [Array(bytes[$0.name.range]), Array(bytes[$0.value.range])] } }
}
