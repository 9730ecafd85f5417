import path from 'node:path';
import { freePort } from '../../test/peers/free-port.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import { PEERS, peersMissing } from './peers.ts';
import type { System } from './system.ts';
import { untilListening } from './wait.ts';

/** What `peers/pg-boss.mjs` takes for a key. */
export const PG_BOSS_KEY = 'bench';

/** Why it cannot be measured here; null when it can. */
export function pgBossMissing(): string | null {
  return peersMissing('pg-boss');
}

/** Starts Fastify, pg-boss and nodemailer in one process. */
export async function startPgBoss({
  directory,
  databaseUrl,
  relayPort,
}: {
  readonly directory: string;
  readonly databaseUrl: string;
  readonly relayPort: number;
}): Promise<System & { readonly port: number }> {
  const port = await freePort();
  const command = [process.execPath, path.join(PEERS, 'pg-boss.mjs'), String(port), databaseUrl];
  const child = await startChild([...command, String(relayPort)], {
    log: path.join(directory, 'pg-boss.log'),
    env: { NODE_ENV: 'production' },
  });
  await untilListening(port);
  return { port, usage: () => usageOf(child.pid), flushes: () => Number.NaN, stop: () => child.kill() };
}
