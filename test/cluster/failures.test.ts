/**
 * The database and the nodes fail under load, again and again: what was acknowledged is never lost, and no second copy goes
 * unflagged.
 */
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/lib/random.ts';
import type { Node } from '../e2e/nodes.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS } from '../peers/postgres.ts';
import { before, tell, times } from '../support/proof.ts';
import { Fleet } from './fleet.ts';

const FAILURES = times('failures', 1);
/** The next failure comes after at most so many more messages were acknowledged. */
const MAX_BETWEEN = 60;
const TIMEOUT = { timeout: 240_000 + FAILURES * 20_000 };

describeWith(POSTGRES_PROGRAMS, 'nothing acknowledged is lost, and no second copy goes unflagged', () => {
  test.concurrent(`over ${FAILURES} immediate stops of PostgreSQL`, TIMEOUT, async ({ onTestFinished }) => {
    const fleet = await Fleet.start(['one', 'two']);
    onTestFinished(() => fleet.end());
    const dice = seededRandom(FAILURES + before());
    for (let failure = 0; failure < FAILURES; failure++) {
      await fleet.acknowledged(1 + Math.floor(dice.next() * MAX_BETWEEN));
      await fleet.postgres.down();
      await fleet.postgres.up();
    }
    await fleet.acknowledged(1);
    const { acknowledged, twice, flagged } = await fleet.close();
    expect(acknowledged).toBeGreaterThan(FAILURES);
    tellOf('immediate stops of PostgreSQL', acknowledged, twice, flagged);
  });

  test.concurrent(
    `over ${FAILURES} random kills of nodes and database`,
    TIMEOUT,
    async ({ onTestFinished }) => {
      const fleet = await Fleet.start(['one', 'two', 'three']);
      onTestFinished(() => fleet.end());
      const dice = seededRandom(FAILURES + before());
      for (let failure = 0; failure < FAILURES; failure++) {
        await fleet.acknowledged(1 + Math.floor(dice.next() * MAX_BETWEEN));
        const victims = fleet.nodes.filter(() => dice.next() < 0.3);
        const takesDatabase = victims.length === 0 || dice.next() < 0.3;
        await Promise.all([...victims.map(kill), takesDatabase ? fleet.postgres.down() : null]);
        if (takesDatabase) await fleet.postgres.up();
        await Promise.all(victims.map((node) => node.start()));
      }
      await fleet.acknowledged(1);
      const { acknowledged, twice, flagged } = await fleet.close();
      expect(acknowledged).toBeGreaterThan(FAILURES);
      tellOf('kills of nodes and PostgreSQL', acknowledged, twice, flagged);
    },
  );
});

async function kill({ server }: Node): Promise<void> {
  await server.end('SIGKILL');
}

function tellOf(proof: string, acknowledged: number, twice: number, flagged: number): void {
  const outcome = { 'recipients reached twice': twice, 'messages flagged': flagged };
  tell(proof, { failures: FAILURES, acknowledged, lost: 0, ...outcome });
}
