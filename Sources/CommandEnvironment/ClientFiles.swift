import CertificateAuthority

/// The files that variables name, in one folder. They hold no secret.
package struct ClientFiles: Equatable {
    package let folder: String

    package init(folder: String) { self.folder = folder }

    var bundle: String { "\(folder)/ca-bundle.pem" }
    package var additions: String { "\(folder)/ca.pem" }
    /// With `TrustStoreArchive.usualPassword`.
    var javaStore: String { "\(folder)/trust.p12" }
    var wgetSettings: String { "\(folder)/wgetrc" }
    var aptSettings: String { "\(folder)/apt.conf" }
    /// PHP reads every file of the folder that ends so.
    var phpSettings: String { "\(folder)/larder.ini" }
    /// What the variables named before.
    var former: String { "\(folder)/former.json" }
}
