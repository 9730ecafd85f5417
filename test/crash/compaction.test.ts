/** The process is killed while it empties segments: every message that is kept can be read afterwards. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/lib/random.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import { installed } from '../e2e/service.ts';
import { before, tell, times } from '../support/proof.ts';
import { readAll } from '../support/spool-entry.ts';
import { readStore } from './book.ts';
import { HttpCustomer } from './http-customer.ts';

const CYCLES = times('compactions', 3);
/** A process is killed at a random answer up to this one; segments are emptied from the start on. */
const MAX_ANSWERS = 120;
/** Of so many letters the contents of one are kept. */
const ONE_OF = 8;

const CONFIGURATION = `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
retention: { compact_below_percent: 60 }
`;

test(`nothing that is kept is lost over ${CYCLES} kills while segments are emptied`, {
  timeout: 180_000 + CYCLES * 8_000,
}, async (context) => {
  const installation = installed(context, CONFIGURATION);
  const dice = seededRandom(CYCLES + before());
  const key = (await installation.run('keys', 'create', 'kept', '--quiet')).stdout.trim();
  const brief = await installation.run('keys', 'create', 'brief', '--quiet', '--content-days', '0');
  const ids = new Map<string, string>();
  let moved = 0;
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const server = await installation.start();
    const kept = new HttpCustomer(key);
    const dead = new HttpCustomer(brief.stdout.trim());
    const killAt = 1 + Math.floor(dice.next() * MAX_ANSWERS);
    let killed: Promise<unknown> | null = null;
    for (let i = 1; killed === null; i++) {
      await (i % ONE_OF === 0 ? kept : dead).send(server);
      if (i === killAt) killed = server.end('SIGKILL');
    }
    await killed;
    for (const [subject, id] of kept.acknowledged) ids.set(id, subject);
    moved = await expectAllReadable(installation.dataDir, ids);
  }
  expect(moved, 'contents that lie in another segment than they were written to').toBeGreaterThan(0);
  tell('kills while segments are emptied', { kills: CYCLES, kept: ids.size, moved, lost: 0 });
});

const firstPlaces = new Map<string, number>();

/** Reads every content that is kept, as a start would find it. Says how many have moved since they were accepted. */
async function expectAllReadable(dataDir: string, ids: ReadonlyMap<string, string>): Promise<number> {
  const directory = join(dataDir, 'spool');
  expect(readdirSync(directory).length).toBeGreaterThan(0);
  const spool = await openSegmentSpool({ directory, onFailure() {} });
  try {
    return await readStore(dataDir, async (views) => {
      let moved = 0;
      for (const [id, subject] of ids) {
        const content = (await views.message(id))?.message.content;
        if (!content) throw new Error(`${id} has no contents`);
        expect((await readAll(await spool.read(content))).toString()).toContain(subject);
        const first = firstPlaces.get(id) ?? content.segment;
        firstPlaces.set(id, first);
        if (first !== content.segment) moved++;
      }
      return moved;
    });
  } finally {
    await spool.close();
  }
}
