internal import CLarderOpenSSL

/// OpenSSL's error queue, one for each thread. If a thread also drives TLS, an error that is left in its queue would be mistaken
/// for an error of a connection.
package enum ErrorQueue {
    package static func unchanged<Result, Failure>(by work: () throws(Failure) -> Result) throws(Failure) -> Result {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        return try work()
    }
}
