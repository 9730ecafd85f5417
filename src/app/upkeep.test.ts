import { expect, test } from 'vitest';
import { domainDesk, keyRecords, publishRecords } from '../../test/support/domain-desk.ts';
import { keysIn, OVERLAP_MS } from '../domain/domain-keys.ts';
import type { Clock } from '../lib/clock.ts';
import { type Log, silentLog } from '../lib/log.ts';
import { keepDomains, UPKEEP_MS } from './upkeep.ts';

const NAME = 'example.com';

/** A log whose next line can be awaited. */
function watchedLog(): { readonly log: Log; next(): Promise<string> } {
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  const write: Log['info'] = (event, fields) => {
    const line = `${event} ${fields?.['domain']} ${fields?.['selectors'] ?? ''}`;
    const one = waiting.shift();
    if (one === undefined) lines.push(line);
    else one(line);
  };
  const next = () => {
    const line = lines.shift();
    return line === undefined
      ? new Promise<string>((resolve) => waiting.push(resolve))
      : Promise.resolve(line);
  };
  return { log: { ...silentLog, info: write, warn: write }, next };
}

/** A clock that tells when the upkeep has looked at everything and sleeps. */
function watchedClock(clock: Clock): { readonly clock: Clock; untilAsleep(): Promise<void> } {
  let asleep = Promise.withResolvers<void>();
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (ms === UPKEEP_MS) asleep.resolve();
    await clock.sleep(ms, signal);
    if (ms === UPKEEP_MS) asleep = Promise.withResolvers();
  };
  const watched = { wall: () => clock.wall(), mono: () => clock.mono(), sleep };
  return { clock: watched, untilAsleep: () => asleep.promise };
}

test('new keys sign once all of their records are seen, and retired ones are forgotten in time', async () => {
  const { operations, deps, clock, dns, domain } = await domainDesk();
  await operations.addDomain({ name: NAME, algorithm: 'both', selector: 'a' });
  const rotated = await operations.rotateDomain({ name: NAME, algorithm: null, selector: 'b', now: false });
  const signing = () => keysIn(domain(NAME) ?? gone(), 'signing').map(({ selector }) => selector);
  const [rsa, edwards] = keyRecords(rotated, 'waiting');
  if (rsa === undefined || edwards === undefined) throw new Error('two keys were made');

  const ending = new AbortController();
  const { log, next } = watchedLog();
  const watched = watchedClock(clock);
  publishRecords(dns, [rsa]);
  const options = { ...deps, clock: watched.clock, log };
  const upkeep = keepDomains({ ...options, signal: ending.signal });
  await watched.untilAsleep();
  expect(signing()).toEqual(['ar', 'ae']);

  publishRecords(dns, [edwards]);
  await clock.advance(UPKEEP_MS);
  expect(await next()).toBe(`domain.keys_switched ${NAME} br be`);
  expect(signing()).toEqual(['br', 'be']);
  ending.abort();
  await upkeep;

  await clock.advance(OVERLAP_MS);
  const again = new AbortController();
  const later = keepDomains({ ...options, signal: again.signal });
  expect(await next()).toBe(`domain.keys_forgotten ${NAME} ar ae`);
  expect(domain(NAME)?.keys.map(({ selector }) => selector)).toEqual(['br', 'be']);
  again.abort();
  await later;
});

test('a change that fails is told and tried again', async () => {
  const { operations, deps, clock, dns } = await domainDesk();
  await operations.addDomain({ name: NAME, algorithm: 'rsa', selector: 'a' });
  const rotated = await operations.rotateDomain({ name: NAME, algorithm: null, selector: 'b', now: false });
  publishRecords(dns, keyRecords(rotated, 'waiting'));
  const ending = new AbortController();
  const { log, next } = watchedLog();
  let isAway = true;
  const reload: typeof deps.reload = async () => {
    if (isAway) throw new Error('the store is away');
    return await deps.reload();
  };
  const watched = watchedClock(clock);
  const upkeep = keepDomains({ ...deps, clock: watched.clock, reload, log, signal: ending.signal });
  expect(await next()).toBe(`domain.not_minded ${NAME} `);
  isAway = false;
  await watched.untilAsleep();
  await clock.advance(UPKEEP_MS);
  expect(await next()).toBe(`domain.keys_switched ${NAME} b`);
  ending.abort();
  await upkeep;
});

function gone(): never {
  throw new Error('the domain is gone');
}
