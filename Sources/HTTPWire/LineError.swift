/// An error in a line of a head or trailer section, in a request or a response.
package enum LineError: Error, Equatable, Sendable {
    case bareCarriageReturn, bareLineFeed, nul, controlOctet
    /// A line starts with a blank (RFC 9112 §5.2; for the first line after the start line, §2.2).
    case obsoleteFolding
    case blankBeforeColon, emptyFieldName, illegalFieldName, missingColon

    package var reason: StaticString {
        switch self {
        case .bareCarriageReturn: "bare_cr"
        case .bareLineFeed: "bare_lf"
        case .nul: "nul"
        case .controlOctet: "control_octet"
        case .obsoleteFolding: "obs_fold"
        case .blankBeforeColon: "blank_before_colon"
        case .emptyFieldName: "empty_field_name"
        case .illegalFieldName: "illegal_field_name"
        case .missingColon: "missing_colon"
        }
    }
}
