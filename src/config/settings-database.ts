import { choice, integer, listOf, orNull, path, text } from './kinds.ts';
import { outside, restart } from './setting.ts';

/** The roles of a node. */
export const ROLES = ['api', 'smtp', 'delivery', 'webui'] as const;

/** See {@link ROLES}. */
export type Role = (typeof ROLES)[number];

const databaseUrl = text(
  'empty, for SQLite in the data directory, or postgres://user:password@host:5432/database',
  (raw) => raw === '' || (/^postgres(ql)?:\/\//.test(raw) && URL.canParse(withHost(raw))),
);

/** A socket is given as `?host=/run/postgresql`, with nothing before the path. */
function withHost(url: string): string {
  return url.replace(/^(\w+:\/\/(?:[^@/]*@)?)\//, '$1localhost/');
}

const identifier = text(
  'a name of a to z, 0 to 9 and _, at most 63, that begins with no digit',
  (raw) => /^[a-z_][a-z0-9_]{0,62}$/.test(raw) && !raw.startsWith('pg_'),
);

const nodeName = text('a name of letters, digits, dots and hyphens, at most 63', (raw) =>
  /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/.test(raw),
);

/** The settings for where facts are stored and which, and for running several nodes. */
export const DATABASE_SETTINGS = {
  'database.url': outside(
    restart(
      databaseUrl,
      '',
      'Where messages are kept. Empty means SQLite in the data directory, for one process. With PostgreSQL (`postgres://…`), all nodes with this URL are one installation.',
      'secret',
    ),
  ),
  'database.schema': outside(
    restart(identifier, 'waybill', 'PostgreSQL schema for the tables. Created if it is missing.'),
  ),
  'database.tls': outside(
    restart(
      orNull(choice('off', 'required', 'verified'), 'as the URL says, else by the address'),
      null,
      'Whether to connect to PostgreSQL over TLS, and whether its certificate must be verified. null means what `sslmode` of the URL says; without one, `off` for sockets and loopback addresses and `required` for all others.',
    ),
  ),
  'database.tls_ca_file': outside(
    restart(
      orNull(path, "the machine's authorities"),
      null,
      "PEM file with the authorities that may sign PostgreSQL's certificate. null means those of the machine.",
    ),
  ),
  'database.pool_size': outside(
    restart(
      integer(4, 200, 'connections'),
      10,
      'Most connections of this node to PostgreSQL. All nodes together must stay below what its `max_connections` leaves.',
    ),
  ),
  'database.statement_timeout_seconds': outside(
    restart(
      integer(1, 600, 'seconds'),
      20,
      'How long PostgreSQL may work on one statement before it cancels it, so that none of it has happened.',
    ),
  ),
  'events.keep': outside(
    restart(
      choice('all', 'exceptional'),
      'all',
      'Which events are kept: `all`, or with `exceptional` none of mail that goes well: no `message.queued`, `message.delivered`, `message.captured` and `message.confirmed`.',
    ),
  ),
  'node.name': outside(
    restart(
      orNull(nodeName, "the machine's name"),
      null,
      "This node's name in health and in logs. null means the machine's name.",
    ),
  ),
  'node.roles': outside(
    restart(
      listOf(choice(...ROLES), 1),
      [...ROLES],
      'What this node does: `api` and `smtp` accept mail, `delivery` sends it, `webui` serves the dashboard. Only a node over PostgreSQL may leave roles to other nodes: without `database.url` fewer than all four are refused. `/health` and `/metrics` are on the dashboard port.',
    ),
  ),
};
