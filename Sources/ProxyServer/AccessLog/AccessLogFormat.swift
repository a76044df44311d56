import HTTPMessage

/// How a record becomes a line. Whatever a peer put into a text, a line is one line, and holds nothing that a terminal or a
/// reader of JSON would take for something else (T43).
extension AccessLog.Format {
    func write(_ item: AccessBatch.Item, of batch: borrowing AccessBatch, into output: inout [UInt8]) {
        switch self {
        case .ndjson: writeNDJSON(item, of: batch, into: &output)
        case .squid: writeSquid(item, of: batch, into: &output)
        case .combined: writeCombined(item, of: batch, into: &output)
        }
        output.append(ASCII.lf)
    }

    /// One JSON object; what there is nothing to say about is left out.
    private func writeNDJSON(_ item: AccessBatch.Item, of batch: borrowing AccessBatch, into output: inout [UInt8]) {
        let record = item.record
        output.append("{\"ts\":\"")
        LogTime(record.receivedAt).writeRFC3339(into: &output)
        output.append("\",\"id\":\"")
        output.append(hexadecimalID: record.id)
        output.append("\",\"client\":\"")
        output.append(record.client, port: record.clientPort)
        output.append("\"")
        output.append(member: "method", batch.text(.method, of: item))
        output.append(member: "url", batch.text(.url, of: item))
        output.append(member: "status", UInt64(record.status))
        output.append(member: "cache", record.outcome.word)
        output.append(member: "reuse", record.reuse)
        output.append(member: "storage", record.storage)
        output.append(member: "rule", batch.text(.rule, of: item))
        output.append(member: "error", record.error)
        output.append(member: "bytes", record.bytesSent)
        if record.bytesReceived > 0 { output.append(member: "bytes_in", record.bytesReceived) }
        output.append(member: "duration_ms", microseconds: record.durationMicroseconds)
        if let upstream = record.upstream {
            output.append(",\"upstream\":\"")
            output.append(upstream, port: record.upstreamPort)
            output.append("\"")
            if record.upstreamStatus > 0 { output.append(member: "upstream_status", UInt64(record.upstreamStatus)) }
            output.append(",\"upstream_reused\":")
            output.append(record.reusedConnection ? "true" : "false")
            if !record.reusedConnection { output.append(member: "connect_ms", microseconds: record.connectMicroseconds) }
            output.append(member: "first_byte_ms", microseconds: record.firstByteMicroseconds)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Squid's native format: `time elapsed client code/status bytes method URL user hierarchy/peer type`.
    private func writeSquid(_ item: AccessBatch.Item, of batch: borrowing AccessBatch, into output: inout [UInt8]) {
        let record = item.record
        let milliseconds = UInt64(max(0, record.receivedAt.milliseconds)) + record.durationMicroseconds / 1000
        output.append(decimal: milliseconds / 1000)
        output.append(UInt8(ascii: "."))
        output.append(decimal: milliseconds % 1000, width: 3)
        output.append(ASCII.space)
        output.append(decimal: record.durationMicroseconds / 1000, width: 6, padding: ASCII.space)
        output.append(ASCII.space)
        record.client.write(into: &output)
        output.append(ASCII.space)
        output.append(record.squidCode)
        output.append(ASCII.slash)
        output.append(decimal: UInt64(record.status), width: 3)
        output.append(ASCII.space)
        output.append(decimal: record.bytesSent)
        output.append(ASCII.space)
        output.append(orDash: batch.text(.method, of: item))
        output.append(ASCII.space)
        output.append(orDash: batch.text(.url, of: item))
        output.append(" - ")
        if let upstream = record.upstream {
            output.append("HIER_DIRECT/")
            upstream.write(into: &output)
        } else {
            output.append("HIER_NONE/-")
        }
        output.append(ASCII.space)
        output.append(orDash: batch.text(.contentType, of: item))
    }

    /// The combined log format of web servers.
    private func writeCombined(_ item: AccessBatch.Item, of batch: borrowing AccessBatch, into output: inout [UInt8]) {
        let record = item.record
        record.client.write(into: &output)
        output.append(" - - [")
        LogTime(record.receivedAt).writeCommon(into: &output)
        output.append("] \"")
        output.append(quotedText: batch.text(.method, of: item))
        output.append(ASCII.space)
        output.append(quotedText: batch.text(.url, of: item))
        output.append(" HTTP/")
        output.append(decimal: UInt64(record.version.major))
        output.append(UInt8(ascii: "."))
        output.append(decimal: UInt64(record.version.minor))
        output.append("\" ")
        output.append(decimal: UInt64(record.status), width: 3)
        output.append(ASCII.space)
        output.append(decimal: record.bytesSent)
        output.append(" \"")
        output.append(quotedTextOrDash: batch.text(.referrer, of: item))
        output.append("\" \"")
        output.append(quotedTextOrDash: batch.text(.userAgent, of: item))
        output.append("\"")
    }
}

extension AccessRecord.Outcome {
    var word: StaticString {
        switch self {
        case .none: "none"
        case .hit: "hit"
        case .staleHit: "stale_hit"
        case .revalidated: "revalidated"
        case .miss: "miss"
        case .refreshed: "refreshed"
        case .bypass: "bypass"
        case .collapsed: "collapsed"
        case .denied: "denied"
        case .tunnel: "tunnel"
        case .local: "local"
        case .failed: "failed"
        }
    }
}

extension AccessRecord {
    /// The code of Squid's log that says the same.
    var squidCode: StaticString {
        switch outcome {
        case .none, .local: "NONE_NONE"
        case .hit where status == 304: "TCP_INM_HIT"
        case .hit: isFromMemory ? "TCP_MEM_HIT" : "TCP_HIT"
        case .staleHit: "TCP_REFRESH_FAIL_OLD"
        case .revalidated: "TCP_REFRESH_UNMODIFIED"
        case .refreshed: "TCP_REFRESH_MODIFIED"
        case .miss, .bypass: "TCP_MISS"
        case .collapsed: "TCP_CF_HIT"
        case .denied: "TCP_DENIED"
        case .tunnel: "TCP_TUNNEL"
        case .failed: status == 0 ? "TCP_MISS_ABORTED" : "TCP_MISS"
        }
    }
}
