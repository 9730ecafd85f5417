import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openOffline } from '../../src/control/offline.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';

describeWith(POSTGRES_PROGRAMS, 'the secret key of nodes over one PostgreSQL', () => {
  let server: Postgres;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-keys-'));
    server = await Postgres.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('is the one whose name was written first, also of nodes that start at once', async () => {
    const options = { url: server.url(), schema: 'names' };
    const all = await Promise.all(Array.from({ length: 3 }, () => openPostgres(options)));
    const held = await Promise.allSettled(all.map((one, place) => one.holdSecretKey(`key-${place}`)));
    const first = held.findIndex(({ status }) => status === 'fulfilled');
    expect(held.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'store_other_key', message: expect.stringContaining('secrets.key_file') } },
      { reason: { code: 'store_other_key' } },
    ]);
    await all[0]?.holdSecretKey(`key-${first}`);
    for (const one of all) await one.store.close();
  });

  it('must be given to a second data directory, and is asked for without a server, too', async () => {
    const open = async (name: string, more: Record<string, string> = {}) => {
      const dataDir = mkdtempSync(join(folder, name));
      const environment = { WAYBILL_DATABASE__URL: server.url(), ...more };
      const offline = await openOffline({ dataDir, environment, clock: systemClock, random: systemRandom });
      await offline.close();
      return dataDir;
    };
    const first = await open('first');
    await expect(open('second')).rejects.toMatchObject({ code: 'store_other_key' });
    await open('third', { WAYBILL_SECRETS__KEY_FILE: join(first, 'secret.key') });
  });
});
