import ArgumentParser
import CommandSupport
import EventLoop
import Foundation
import HTTPCaching
import HTTPMessage
import LarderSettings
import Logging
import ResponseStore
import SharedTier
import SignedEntries
import TextCoding

/// Makes the shared tier of `store.shared`.
enum SharedTierAssembly {
    /// - Returns: `nil` if the settings name no shared tier, or for a Larder that serves one command.
    /// - Throws: an exit code, after reporting the problem.
    static func tier(
        _ plan: ServingPlan, store: ResponseStore, _ binding: TierBinding, _ logger: Logger
    ) throws(ExitCode) -> SharedTier? {
        let shared = plan.settings.store.shared
        guard let url = shared.url, !plan.servesCommand else { return nil }
        let keys: FarmKeyFiles
        do throws(Unusable) {
            keys = try Self.keys(shared)
        } catch {
            logger.error("store.shared.keys: \(printable(error.reason, limit: 4096))")
            throw ExitCode.failure
        }
        if keys.signing == nil, shared.write != .off {
            logger.notice("the folder of store.shared.keys has no signing.key: this node only reads from the shared tier")
        }
        var engine = EngineConfiguration(url: url)
        engine.user = shared.user
        engine.timeout = Int(clamping: shared.timeout.wholeMilliseconds)
        if let path = shared.passwordFile {
            // A file that cannot be read is an error at the start, and a connection without a password later.
            do throws(LocalFile.Unreadable) {
                _ = try password(at: path)
            } catch {
                logger.error("store.shared.password_file: cannot read \(printable(path, limit: 4096)): \(error.reason)")
                throw ExitCode.failure
            }
            engine.password = { try? password(at: path) }
        }
        let policies = plan.settings.transport.trust
        engine.trust = { host, port in try? policies?.requiredPolicy(host: host, port: port) }
        var configuration = TierConfiguration(engine: engine, node: shared.node ?? ProcessInfo.processInfo.hostName)
        configuration.write = TierConfiguration.Write(rawValue: shared.write.rawValue) ?? .all
        configuration.maximumBody = shared.maximumBody
        configuration.wait = Int(clamping: shared.wait.wholeMilliseconds)
        do throws(SystemError) {
            return try SharedTier(configuration, coder: coder(shared, keys), store: store, hooks: binding.hooks)
        } catch {
            logger.error("cannot start the shared tier: \(error)")
            throw ExitCode.failure
        }
    }

    /// Reads the key files again, and makes a running tier use them.
    /// - Parameter shared: the settings at the start.
    static func reloadKeys(_ tier: SharedTier, _ shared: LarderSettings.SharedStore) throws(Unusable) {
        let keys = try keys(shared)
        guard ["", keys.farm.farm.description].contains(tier.status.farm) else {
            throw Unusable(reason: "farm.key is for another farm than at the start; restart Larder")
        }
        tier.use(coder(shared, keys))
    }

    /// Why the key files cannot be used.
    struct Unusable: Error {
        let reason: String
    }

    private static func keys(_ shared: LarderSettings.SharedStore) throws(Unusable) -> FarmKeyFiles {
        let data = UserFolders(ProcessInfo.processInfo.environment).data
        guard let folder = shared.keys ?? data.map({ "\($0)/farm" }) else {
            throw Unusable(reason: "the folder of the farm's keys is unknown, because HOME is not set; set store.shared.keys")
        }
        let signing = "\(folder)/signing.key"
        // A node without a signing key only reads.
        let canSign = FileManager.default.fileExists(atPath: signing)
        do throws(FarmKeysUnusable) {
            return try FarmKeyFiles(
                FarmKeyPaths(farm: "\(folder)/farm.key", trusted: "\(folder)/trusted.keys", signing: canSign ? signing : nil))
        } catch {
            throw Unusable(reason: error.message)
        }
    }

    private static func coder(
        _ shared: LarderSettings.SharedStore, _ keys: FarmKeyFiles
    ) -> @Sendable () -> any EntryCoding {
        let sharing = SharingSettings(
            write: SharingSettings.Write(rawValue: shared.write.rawValue) ?? .all, maximumBody: shared.maximumBody)
        let isEncrypting = shared.encrypts
        return {
            SignedEntryCoder(
                keys: keys.farm, trusted: keys.trusted, signing: keys.signing, isEncrypting: isEncrypting, sharing: sharing,
                now: { .now })
        }
    }

    private static func password(at path: String) throws(LocalFile.Unreadable) -> [UInt8] {
        var bytes = try LocalFile.secretBytes(at: path, atMost: 4096)
        while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
        return bytes
    }
}
