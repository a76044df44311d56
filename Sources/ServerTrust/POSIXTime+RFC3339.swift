internal import HTTPMessage

extension POSIXTime {
    /// `2027-01-31T12:00:00Z` (RFC 3339), for the years 0 to 9999 that a certificate can contain.
    package var rfc3339: String {
        let day: Int64 = 86_400
        let days = seconds >= 0 ? seconds / day : (seconds - day + 1) / day
        let second = seconds - days * day
        let date = CivilDate(daysSince1970: days)
        func padded(_ number: Int, _ count: Int = 2) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
        }
        return "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))T"
            + "\(padded(Int(second / 3600))):\(padded(Int(second / 60 % 60))):\(padded(Int(second % 60)))Z"
    }
}
