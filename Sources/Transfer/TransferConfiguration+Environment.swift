extension TransferConfiguration {
  /// Adopts what curl would read from the environment: proxies (see `ProxyRules`), and whom to trust in TLS, which is
  /// `CURL_CA_BUNDLE`, or else `SSL_CERT_FILE` and `SSL_CERT_DIR`. Empty variables are as good as none.
  /// - Throws: `Proxy.ParseError`.
  package mutating func adopt(environment: [String: String]) throws(Proxy.ParseError) {
    let given = environment.filter { !$0.value.isEmpty }
    proxies = try ProxyRules(environment: given)
    certificateFile = given["CURL_CA_BUNDLE"] ?? given["SSL_CERT_FILE"]
    certificateFolder = given["CURL_CA_BUNDLE"] == nil ? given["SSL_CERT_DIR"] : nil
  }
}
