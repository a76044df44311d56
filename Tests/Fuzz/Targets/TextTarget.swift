import HTTPSerialization

extension FuzzTarget {
    /// Bytes in a charset, which the first of them chooses: with faults replaced they are always a text, and the same where there is no fault; a
    /// fault's place lies in them. Types with parameters are read whatever they hold.
    package static let text = FuzzTarget("Text") { octets in
        guard let choice = octets.first else { return nil }
        let names = [
            "utf-8", "utf-16", "utf-16le", "iso-8859-1", "windows-1252", "shift_jis", "euc-jp", "iso-2022-jp", "gbk", "gb18030",
            "big5", "euc-kr",
            "koi8-r", "utf-32be", "us-ascii", "big5-hkscs",
        ]
        guard let charset = Charset(names[Int(choice) % names.count]) else { return "a charset on the list is not known" }
        let body = Array(octets.dropFirst())
        guard let replaced = try? charset.text(of: body, replacesFaults: true) else { return "a fault that is not replaced" }
        do throws(TextFault) {
            if try charset.text(of: body) != replaced { return "replacing changes what has no fault" }
        } catch {
            if error.offset < 0 || error.offset > body.count { return "a fault outside" }
        }
        let head = ReceivedHead(status: 200, contentType: String(decoding: body, as: UTF8.self))
        _ = TextSerializer().serialize(head, body)
        return nil
    }
}
