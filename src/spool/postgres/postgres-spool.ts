import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../postgres/database.ts';
import { type Spool, SpoolError } from '../spool.ts';

/** What a spool within a PostgreSQL needs. */
export interface PostgresSpoolOptions {
  readonly database: Database;
  /** This process's name, another at every start: it alone writes to its segments. */
  readonly node: string;
  readonly clock: Clock;
}

/** Opens the spool that lies in the same database as the facts. */
export async function openPostgresSpool(_options: PostgresSpoolOptions): Promise<Spool> {
  throw new SpoolError('spool_failed', 'not yet');
}
