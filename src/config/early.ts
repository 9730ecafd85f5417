import type { Fault } from './fault.ts';
import { type OutsideOptions, resolveOutside } from './load.ts';
import type { Config } from './schema.ts';

/** What must be known before the store can be read, whose settings the rest is made of. */
export interface EarlyConfig {
  readonly database: Config['database'];
  readonly node: Config['node'];
  /** What is wrong with these. Others show when everything is read. */
  readonly faults: readonly Fault[];
}

/** Reads what file and environment say of the store. */
export function earlyConfig(options: OutsideOptions): EarlyConfig {
  const { config, faults } = resolveOutside(options);
  const { database, node } = config;
  return { database, node, faults: faults.filter(({ key }) => /^(database|node)\./.test(key)) };
}
