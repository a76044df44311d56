import HTTPMessage
import ProxyCore

/// Writes a record as a line. Whatever bytes a peer sends, a record is exactly one line and contains nothing that a terminal or JSON
/// parser could misinterpret (threat T43).
extension AccessLog.Format {
    /// Escaping turns one byte of a text into at most six bytes. The rest of a line fits into `fixedLength`.
    private static let textGrowth = 6
    private static let fixedLength = 1024
    /// The maximum length of a line in bytes.
    static let lineLimit =
        fixedLength + textGrowth * AccessTexts.Limit.all + JudgedChain.Limit.member + RecordingMember.Limit.all

    /// The maximum length of a line with these texts.
    func lengthLimit(_ texts: borrowing AccessTexts) -> Int {
        Self.fixedLength + Self.textGrowth * texts.count + texts.members.count
    }

    /// - Parameter clock: set to the record's time.
    func write(
        _ record: AccessRecord, _ texts: borrowing AccessTexts, _ clock: borrowing LogClock,
        into line: inout OutputSpan<UInt8>
    ) {
        switch self {
        case .ndjson: Self.writeNDJSON(record, texts, clock, into: &line)
        case .squid: Self.writeSquid(record, texts, into: &line)
        case .combined: Self.writeCombined(record, texts, clock, into: &line)
        }
        line.append(ASCII.lf)
    }

    /// One JSON object; members without a value are omitted.
    private static func writeNDJSON(
        _ record: AccessRecord, _ texts: borrowing AccessTexts, _ clock: borrowing LogClock,
        into line: inout OutputSpan<UInt8>
    ) {
        line.append("{\"ts\":\"")
        clock.writeRFC3339(into: &line)
        line.append("\",\"id\":\"")
        line.append(hexadecimal: record.id)
        line.append("\",\"client\":\"")
        line.append(record.client, port: record.clientPort)
        line.append("\"")
        line.append(member: ",\"user\":", texts.user)
        line.append(member: ",\"method\":", texts.method)
        line.append(member: ",\"url\":", texts.url)
        line.append(",\"status\":")
        line.append(decimal: UInt64(record.status))
        line.append(member: ",\"cache\":", record.outcome.word)
        line.append(member: ",\"reuse\":", record.reuse)
        line.append(member: ",\"storage\":", record.storage)
        line.append(member: ",\"transform\":", record.transform)
        line.append(member: ",\"transform_reason\":", record.transformReason)
        if !texts.rule.isEmpty {
            line.append(member: ",\"rule\":", texts.rule)
            if record.isUpgraded { line.append(",\"upgraded\":true") }
        }
        if record.error.utf8CodeUnitCount > 0 {
            line.append(member: ",\"error\":", record.error)
            line.append(member: ",\"detail\":", record.errorDetail)
            line.append(member: ",\"server_key\":", texts.serverKey)
        }
        if record.wouldDeny != .allowed { line.append(member: ",\"would_deny\":", record.wouldDeny.text) }
        if let shadow = record.shadow { line.append(member: ",\"shadow\":", shadow.text) }
        line.append(member: ",\"connect\":", record.connect)
        if record.isTransparent { line.append(",\"transparent\":true") }
        if let reason = record.uninspected { line.append(member: ",\"uninspected\":", reason.word) }
        line.append(texts.members)
        line.append(",\"bytes\":")
        line.append(decimal: record.bytesSent)
        if record.bytesReceived > 0 {
            line.append(",\"bytes_in\":")
            line.append(decimal: record.bytesReceived)
        }
        line.append(",\"duration_ms\":")
        line.append(millisecondsOf: record.durationMicroseconds)
        if let upstream = record.upstream {
            line.append(",\"upstream\":\"")
            line.append(upstream, port: record.upstreamPort)
            line.append("\"")
            if record.upstreamStatus > 0 {
                line.append(",\"upstream_status\":")
                line.append(decimal: UInt64(record.upstreamStatus))
            }
            if record.upstreamVersion == .http2 { line.append(",\"upstream_version\":\"2.0\"") }
            line.append(",\"upstream_reused\":")
            line.append(record.reusedConnection ? "true" : "false")
            if !record.reusedConnection {
                line.append(",\"connect_ms\":")
                line.append(millisecondsOf: record.connectMicroseconds)
            }
            line.append(",\"first_byte_ms\":")
            line.append(millisecondsOf: record.firstByteMicroseconds)
            if record.continuations > 0 {
                line.append(",\"continued\":")
                line.append(decimal: UInt64(record.continuations))
            }
        }
        line.append(UInt8(ascii: "}"))
    }

    /// Squid's native format: `time elapsed client code/status bytes method URL user hierarchy/peer type`.
    private static func writeSquid(
        _ record: AccessRecord, _ texts: borrowing AccessTexts, into line: inout OutputSpan<UInt8>
    ) {
        let milliseconds = UInt64(max(0, record.receivedAt.milliseconds)) + record.durationMicroseconds / 1000
        line.append(decimal: milliseconds / 1000)
        line.append(UInt8(ascii: "."))
        line.append(decimal: milliseconds % 1000, digitCount: 3)
        line.append(ASCII.space)
        line.append(decimal: record.durationMicroseconds / 1000, width: 6, padding: ASCII.space)
        line.append(ASCII.space)
        record.client.write(into: &line)
        line.append(ASCII.space)
        line.append(record.squidCode)
        line.append(ASCII.slash)
        line.append(decimal: UInt64(record.status), digitCount: 3)
        line.append(ASCII.space)
        line.append(decimal: record.bytesSent)
        line.append(ASCII.space)
        line.append(orDash: texts.method)
        line.append(ASCII.space)
        line.append(orDash: texts.url)
        line.append(ASCII.space)
        line.append(orDash: texts.user)
        line.append(ASCII.space)
        if let upstream = record.upstream {
            line.append("HIER_DIRECT/")
            upstream.write(into: &line)
        } else {
            line.append("HIER_NONE/-")
        }
        line.append(ASCII.space)
        line.append(orDash: texts.contentType)
    }

    /// The combined log format of web servers.
    private static func writeCombined(
        _ record: AccessRecord, _ texts: borrowing AccessTexts, _ clock: borrowing LogClock,
        into line: inout OutputSpan<UInt8>
    ) {
        record.client.write(into: &line)
        line.append(" - ")
        line.append(orDash: texts.user)
        line.append(" [")
        clock.writeCommon(into: &line)
        line.append("] \"")
        line.append(quotedText: texts.method)
        line.append(ASCII.space)
        line.append(quotedText: texts.url)
        line.append(" HTTP/")
        line.append(decimal: UInt64(record.version.major))
        line.append(UInt8(ascii: "."))
        line.append(decimal: UInt64(record.version.minor))
        line.append("\" ")
        line.append(decimal: UInt64(record.status), digitCount: 3)
        line.append(ASCII.space)
        line.append(decimal: record.bytesSent)
        line.append(" \"")
        line.append(quotedTextOrDash: texts.referrer)
        line.append("\" \"")
        line.append(quotedTextOrDash: texts.userAgent)
        line.append("\"")
    }
}

extension AccessRecord {
    /// The result code of Squid's log that corresponds to this record.
    var squidCode: StaticString {
        switch outcome {
        case .none, .local, .background: "NONE_NONE"
        case .hit where isOffline, .staleHit where isOffline: "TCP_OFFLINE_HIT"
        case .hit where status == 304: "TCP_INM_HIT"
        case .hit: isFromMemory ? "TCP_MEM_HIT" : "TCP_HIT"
        case .staleHit: "TCP_REFRESH_FAIL_OLD"
        case .revalidated: "TCP_REFRESH_UNMODIFIED"
        case .refreshed: "TCP_REFRESH_MODIFIED"
        case .miss, .bypass: "TCP_MISS"
        case .collapsed: "TCP_CF_HIT"
        case .denied: "TCP_DENIED"
        case .tunnel: "TCP_TUNNEL"
        case .replayed: "TCP_OFFLINE_HIT"
        case .recorded: "TCP_MISS"
        case .failed where isClientsFault && upstream == nil: "NONE_NONE"
        case .failed: status == 0 ? "TCP_MISS_ABORTED" : "TCP_MISS"
        }
    }
}
