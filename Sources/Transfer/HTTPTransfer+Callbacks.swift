import CCurl

extension EasyHandle {
  /// Lets libcurl tell a transfer what happens. The transfer has to live as long as the handle is in use.
  ///
  /// What libcurl traces is listened to for one fact only: how many bytes of a body came in. libcurl cuts off what
  /// exceeds the announced length without a word otherwise.
  func setCallbacks(of transfer: HTTPTransfer) {
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    set(CURLOPT_HEADERFUNCTION, receiveHeader)
    set(CURLOPT_HEADERDATA, context)
    set(CURLOPT_WRITEFUNCTION, receiveBody)
    set(CURLOPT_WRITEDATA, context)
    setOpenSocket(openSocket)
    set(CURLOPT_OPENSOCKETDATA, context)
    setBeforeRequest(beforeRequest)
    set(CURLOPT_PREREQDATA, context)
    setTrace(traceBytes)
    set(CURLOPT_DEBUGDATA, context)
    set(CURLOPT_VERBOSE, 1)
  }
}

private let receiveHeader: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private let receiveBody: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private let openSocket: curl_opensocket_callback = { context, _, address in
  guard let context, let address else { return -1 }
  return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().socket(for: address)
}

private let beforeRequest: curl_prereq_callback = { context, _, _, _, port in
  guard let context else { return CURL_PREREQFUNC_ABORT }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.mayAsk(overPort: Int(port)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private let traceBytes: curl_debug_callback = { _, kind, _, count, context in
  guard kind == CURLINFO_DATA_IN, let context else { return 0 }
  Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().count(arrived: count)
  return 0
}
