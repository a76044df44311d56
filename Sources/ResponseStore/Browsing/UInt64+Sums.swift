extension UInt64 {
    /// The sum, or the greatest number on overflow: lengths from a file may have any value.
    package func addingUpToMax(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
