#pragma once
#include <microhttpd.h>
#include <string.h>

// MHD_start_daemon takes its options as variadic arguments, which Swift cannot pass; their types are fixed here.

/// Decodes percent signs in place, as the library does by itself, but never to a zero byte: whoever reads the text as a C
/// string would take what stands before it for the whole. A control character takes its place, which no path has.
static size_t tombolo_mhd_unescape(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  for (char *zero = strstr(text, "%00"); zero != NULL; zero = strstr(zero, "%00")) zero[2] = '1';
  return MHD_http_unescape(text);
}

/// Starts a daemon on a socket that listens already: epoll in the library's own threads, connections may be suspended.
/// Returns NULL if it cannot start.
static inline struct MHD_Daemon *tombolo_mhd_start(
    MHD_socket listening, unsigned int threads, unsigned int connections, size_t connection_memory,
    unsigned int timeout_seconds, MHD_AccessHandlerCallback handler, void *handler_context,
    MHD_RequestCompletedCallback completed, void *completed_context) {
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  if (threads > 1) {
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, handler_context,
        MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, &tombolo_mhd_unescape, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, completed, completed_context,
        MHD_OPTION_END);
  }
  return MHD_start_daemon(
      flags, 0, NULL, NULL, handler, handler_context,
      MHD_OPTION_LISTEN_SOCKET, listening,
      MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_UNESCAPE_CALLBACK, &tombolo_mhd_unescape, NULL,
      MHD_OPTION_NOTIFY_COMPLETED, completed, completed_context,
      MHD_OPTION_END);
}
