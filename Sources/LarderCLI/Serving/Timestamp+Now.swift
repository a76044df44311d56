import Foundation
import HTTPMessage

extension Timestamp {
    /// The wall-clock time.
    static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
