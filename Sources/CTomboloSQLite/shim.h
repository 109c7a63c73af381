#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT and SQLITE_STATIC are casts that Swift cannot import; sqlite3_db_config and
// sqlite3_config are variadic.
static inline int tombolo_bind_text(sqlite3_stmt *s, int i, const char *p, int n) {
  return sqlite3_bind_text(s, i, p, n, SQLITE_TRANSIENT);
}
static inline int tombolo_bind_text_static(sqlite3_stmt *s, int i, const char *p, int n) {
  return sqlite3_bind_text(s, i, p, n, SQLITE_STATIC);
}
static inline int tombolo_bind_blob(sqlite3_stmt *s, int i, const void *p, int n) {
  return sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT);
}
static inline void tombolo_result_text(sqlite3_context *c, const char *p, int n) {
  sqlite3_result_text(c, p, n, SQLITE_TRANSIENT);
}
static inline int tombolo_config_switch(sqlite3 *db, int option, int value) {
  int now = 0;
  return sqlite3_db_config(db, option, value, &now);
}
static inline int tombolo_disable_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
