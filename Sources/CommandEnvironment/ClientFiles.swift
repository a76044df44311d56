import CertificateAuthority

/// The files that the variables name, in one folder. They contain no secrets.
package struct ClientFiles: Equatable {
    package let folder: String

    package init(folder: String) { self.folder = folder }

    var bundle: String { "\(folder)/ca-bundle.pem" }
    package var additions: String { "\(folder)/ca.pem" }
    /// The Java trust store, with the password `TrustStoreArchive.usualPassword`.
    var javaStore: String { "\(folder)/trust.p12" }
    /// A Java trust store without a password, to mount over Java's own.
    var openJavaStore: String { "\(folder)/cacerts" }
    var wgetSettings: String { "\(folder)/wgetrc" }
    var aptSettings: String { "\(folder)/apt.conf" }
    /// The ending of settings files in PHP's folder: PHP reads every file with this ending.
    var phpSettings: String { "\(folder)/larder.ini" }
    /// The former values of the variables.
    var former: String { "\(folder)/former.json" }
}
