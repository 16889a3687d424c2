import CCurl
import Glibc

extension EasyHandle {
  /// Registers libcurl's callbacks to a transfer, and reports the sockets that it closes. The transfer must live as long as the
  /// handle is used, `openConnections` as long as the multi handle.
  ///
  /// libcurl's trace serves to count the received bytes of a body: libcurl silently cuts off bytes beyond the announced
  /// length. It also shows when a request was sent.
  func setCallbacks(of transfer: HTTPTransfer, _ openConnections: OpenConnections) {
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    set(CURLOPT_HEADERFUNCTION, receiveHeader)
    set(CURLOPT_HEADERDATA, context)
    set(CURLOPT_WRITEFUNCTION, receiveBody)
    set(CURLOPT_WRITEDATA, context)
    check(ccurl_easy_setopt_opensocket(raw, openSocket), CURLOPT_OPENSOCKETFUNCTION)
    set(CURLOPT_OPENSOCKETDATA, context)
    check(ccurl_easy_setopt_closesocket(raw, closeSocket), CURLOPT_CLOSESOCKETFUNCTION)
    set(CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(openConnections).toOpaque())
    check(ccurl_easy_setopt_prereq(raw, beforeRequest), CURLOPT_PREREQFUNCTION)
    set(CURLOPT_PREREQDATA, context)
    check(ccurl_easy_setopt_tls_context(raw, setUpTLS), CURLOPT_SSL_CTX_FUNCTION)
    set(CURLOPT_SSL_CTX_DATA, context)
    check(ccurl_easy_setopt_debug(raw, traceBytes), CURLOPT_DEBUGFUNCTION)
    set(CURLOPT_DEBUGDATA, context)
    set(CURLOPT_VERBOSE, 1)
  }
}

private let receiveHeader: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private let receiveBody: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  guard transfer.mayReceive(size * count) else { return Int(CURL_WRITEFUNC_PAUSE) }
  return transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private let openSocket: curl_opensocket_callback = { context, _, address in
  guard let context, let address else { return -1 }
  return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().openSocket(for: address)
}

private let closeSocket: curl_closesocket_callback = { context, socket in
  guard let context else { return close(socket) }
  return Unmanaged<OpenConnections>.fromOpaque(context).takeUnretainedValue().close(socket)
}

/// Decides, once connected, whether the request is sent.
private let beforeRequest: curl_prereq_callback = { context, remoteAddress, _, remotePort, localPort in
  guard let context else { return CURL_PREREQFUNC_ABORT }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  let endpoints = OpenConnections.Endpoints(
    localPort: Int(localPort), remoteAddress: remoteAddress.flatMap { IPAddress(String(cString: $0)) },
    remotePort: Int(remotePort))
  return transfer.maySendRequest(over: endpoints) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private let setUpTLS: curl_ssl_ctx_callback = { _, tlsContext, context in
  guard let context, let tlsContext else { return CURLE_SSL_CONNECT_ERROR }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.setUpTLS(OpaquePointer(tlsContext)) ? CURLE_OK : CURLE_OUT_OF_MEMORY
}

private let traceBytes: curl_debug_callback = { _, kind, _, count, context in
  guard let context else { return 0 }
  switch kind {
  case CURLINFO_DATA_IN: Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().countArrived(count)
  case CURLINFO_HEADER_OUT, CURLINFO_DATA_OUT:
    if count > 0 { Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().hasSent() }
  default: break
  }
  return 0
}
