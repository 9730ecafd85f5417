import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Declaring, declaration, MATCHES, RELAYS, roundTrips } from '../../../test/support/declared.ts';
import { tell, times } from '../../../test/support/proof.ts';
import { RELAY_FIELDS } from '../../config/relay-fields.ts';
import { RELAY_TYPES } from '../../config/relay-types.ts';
import { CONDITION_NAMES } from '../../config/route-conditions.ts';

/** What is exported, applied to an empty installation and exported again, is the same. */

const RUNS = times('round_trips', 15);

let here: Declaring;
let there: Declaring;
beforeAll(async () => {
  [here, there] = [new Declaring(), new Declaring()];
  for (const one of [here, there]) await one.open();
});
afterAll(async () => {
  for (const one of [here, there]) await one.close();
});

test('export, apply to an empty installation, export: the same, whatever was declared', async () => {
  await fc.assert(
    fc.asyncProperty(declaration, (declared) => roundTrips(declared, here, there)),
    { numRuns: RUNS },
  );
  tell('configuration round trips', { files: RUNS });
});

test('every type of relay makes its way round, with all its fields and secrets', async () => {
  const relays = RELAYS.map((relay, place) => ({ ...relay, name: `r${place}` }));
  const routes = MATCHES.map((match, place) => ({ name: `m${place}`, match, via: ['r0'] }));
  await roundTrips({ relays, delivery: { default_relay: 'r0' }, routes }, here, there);
  expect(new Set(RELAYS.map(({ type }) => type))).toEqual(new Set(RELAY_TYPES));
  const known = new Set(RELAYS.flatMap((relay) => Object.keys(relay)));
  const missing = RELAY_FIELDS.filter(
    ({ name, group, fileOnly }) =>
      name !== 'name' &&
      !fileOnly &&
      group !== 'limits' &&
      group !== 'warmup' &&
      !known.has(name) &&
      !known.has(`${name}_file`),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
  expect(new Set(MATCHES.flatMap((match) => Object.keys(match)))).toEqual(new Set(CONDITION_NAMES));
});
