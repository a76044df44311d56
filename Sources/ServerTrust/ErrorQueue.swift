internal import COpenSSL

/// What OpenSSL says about its failures, thread by thread. A reason left behind on a thread that also drives TLS would be
/// taken for one of a connection's.
package enum ErrorQueue {
    package static func unchanged<Result, Failure>(by work: () throws(Failure) -> Result) throws(Failure) -> Result {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        return try work()
    }
}
