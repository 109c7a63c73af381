enum HelpText {
  static let program = """
    tombolod: the sync server of Tombolo

    usage:
      tombolod serve --data DIR [--listen HOST:PORT] [--port-file FILE] [--threads N] [--verbose]
      tombolod restore --data DIR [--store NAME]
      tombolod token create --data DIR --store NAME --role owner|writer|reader [--name TEXT] [--out FILE]
      tombolod token list --data DIR [--store NAME]
      tombolod token revoke --data DIR ID

    '--help' after a command explains it; '--version' says which program this is. Exit status: 0 done, 1 failed, 64 not understood.
    """

  static let serve = """
    usage: tombolod serve --data DIR [--listen HOST:PORT] [--port-file FILE] [--threads N] [--verbose] [LIMITS]

    Serves the stores in DIR, which is made if it does not exist, until SIGTERM or SIGINT; requests under way are
    finished first. One process serves a directory.

      --data DIR            where tokens and stores are kept
      --listen HOST:PORT    the address to listen on; port 0 takes a free one (default 127.0.0.1:8440)
      --port-file FILE      writes the port there, whole, once it listens
      --threads N           threads for connections, 1 to 64 (default 2)
      --verbose             a line about each request on standard error

    Limits; a client learns of each from the error that names it, and adapts:
      --request-bytes N     a request's body (default 8 MiB)
      --push-records N      changes in one push (default 5000)
      --record-bytes N      one record's values (default 1 MiB)
      --page-records N      items in one page of a pull (default 5000)
      --page-bytes N        values in one page (default 4 MiB)
      --wait-seconds N      how long a pull may wait for news (default 55)
      --stores N            stores of this server (default 1000)
    """

  static let restore = """
    usage: tombolod restore --data DIR [--store NAME]

    Says that the stores in DIR were put back from a backup: each begins a new epoch. Stop the server, put the backup in
    the place of DIR, run this, start the server. Replicas stop at their next sync and ask their people, who answer with
    'tombolo sync --reupload' (the server gets back what it lost) or '--reset' (the backup's state is what counts).

      --data DIR       the server's data directory
      --store NAME     only this store (default: all of them)

    Where it is forgotten, the first replica that uploads again begins the new epoch.
    """

  static let token = """
    usage: tombolod token create|list|revoke …

    Makes, lists and revokes the tokens with which replicas identify themselves; works while the server runs.
    """

  static let tokenCreate = """
    usage: tombolod token create --data DIR --store NAME --role owner|writer|reader [--name TEXT] [--out FILE]

    Prints a new token, once: only a hash of it is kept. The store need not exist yet; an owner's first sync makes it.

      --data DIR       the server's data directory
      --store NAME     the one store that the token is good for
      --role ROLE      owner: everything, and tokens; writer: pull and push; reader: pull
      --name TEXT      whose it is, for lists
      --out FILE       writes the token to FILE, new and readable by its owner only, instead of printing it
    """

  static let tokenList = """
    usage: tombolod token list --data DIR [--store NAME]

    Lists tokens by their ids, revoked ones included; the tokens themselves are not kept. A folder without a server's data is
    an error.
    """

  static let tokenRevoke = """
    usage: tombolod token revoke --data DIR ID

    Ends the validity of a token, from the next request on. 'tombolod token list' shows the ids.
    """
}
