import HTTPMessage
import HTTPWire

/// All that reading a response's head from bytes given in pieces comes to.
package enum ReadResponse: Equatable {
    case incomplete
    case refused(ResponseParseError)
    case read(Head)

    package struct Head: Equatable {
        package var length: Int
        /// The head written again: what a forwarding proxy would send, in the version that came.
        package var written: [UInt8]
        package var bytes: [UInt8]
        package var lines: [FieldLine]
        package var status: Status
        package var framing: BodyFraming?
        package var framingError: ResponseParseError?
    }

    /// - Parameter ends: how much of the bytes has been received at each read.
    package init(_ octets: [UInt8], ends: [Int], limits: ParseLimits) {
        var parser = ResponseParser(limits: limits)
        var head = ResponseHead()
        do throws(ResponseParseError) {
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

extension ReadResponse.Head {
    fileprivate init(_ head: ResponseHead, length: Int) {
        self.length = length
        written = []
        WrittenHead.write(head, into: &written)
        bytes = head.fields.bytes
        lines = head.fields.lines
        status = head.status
        do throws(ResponseParseError) {
            framing = try BodyFraming.ofResponse(head, to: .get)
        } catch {
            framingError = error
        }
    }

    /// The name and value of every field, and where a place among them stands matters no more.
    package var fields: [[UInt8]] { lines.flatMap { [Array(bytes[$0.name.range]), Array(bytes[$0.value.range])] } }
}
