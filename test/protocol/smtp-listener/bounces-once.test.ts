import { afterEach, expect, test } from 'vitest';
import { messageIdOf } from '../../../src/lib/id.ts';
import { TAKEN } from '../../support/bounce-mail.ts';
import { ABOUT, DSN, leavePath, returnPath, send, startWithBounces } from './bounce-world.ts';
import type { SmtpWorld } from './world.ts';

/** How often what mail to a bounce domain tells is told (contract-2 §A3), over real sockets. */

let world: SmtpWorld;
afterEach(() => world.close());

/** What the newest report tells. */
function told() {
  return (world.desk.reports.at(-1)?.items ?? []).map(({ feedback }) => feedback);
}

/** The groups of a notification of so many recipients. */
function many(count: number, from = 0): string[] {
  const names = Array.from({ length: count }, (_, place) => `r${from + place}@example.org`);
  return names.flatMap((name) => ['', `Final-Recipient: rfc822; ${name}`, 'Action: failed', 'Status: 5.1.1']);
}

/** A notification with these groups. */
function notification(groups: readonly string[]): readonly string[] {
  return [...DSN.slice(0, 9), ...groups, '--b--'];
}

/** The id of another message. */
function numbered(number: number): string {
  return messageIdOf(new Uint8Array(16).fill(number));
}

test('the same bytes are a repeat, but new to another address', async () => {
  world = await startWithBounces();
  const client = await world.hello();
  const other = returnPath({ ...ABOUT, recipient: 3 });
  // As after a 452 for some of the recipients, or from a server that has one transaction for each.
  for (const to of [[returnPath()], [returnPath()], [other], [leavePath()], [returnPath(), other]])
    expect(await send(client, to)).toMatch(TAKEN);
  const [first, again, elsewhere, leaving, both] = world.desk.reports.map(({ items }) =>
    items.map(({ onceId }) => onceId),
  );
  expect(first).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(again).toEqual(first);
  expect(both).toEqual([...(first ?? []), ...(elsewhere ?? [])]);
  expect(new Set([first, elsewhere, leaving].flat()).size).toBe(3);
});

test('of a recipient that the return path names a thing is told once, whatever the message calls it', async () => {
  world = await startWithBounces();
  const delayed = ['', 'Final-Recipient: rfc822; ann@example.org', 'Action: delayed', 'Status: 4.4.1'];
  const lines = notification([...many(3), ...delayed, ...many(3, 3)]);
  const to = [returnPath(), returnPath({ ...ABOUT, recipient: null })];
  expect(await send(await world.hello(), to, lines)).toMatch(TAKEN);
  expect(
    told().map(({ kind, recipient, message: { token } }) => [token?.recipient, kind, recipient]),
  ).toEqual([
    [2, 'bounce', 'r0@example.org'],
    [2, 'delayed', 'ann@example.org'],
    ...[0, 1, 2].map((n) => [null, 'bounce', `r${n}@example.org`]),
    [null, 'delayed', 'ann@example.org'],
    ...[3, 4, 5].map((n) => [null, 'bounce', `r${n}@example.org`]),
  ]);
});

test('a message tells at most a thousand things', async () => {
  world = await startWithBounces({ bounces: { maxMessageBytes: 1_000_000 } });
  const to = [leavePath(), ...[4, 5].map((last) => returnPath({ id: numbered(last), recipient: null }))];
  expect(await send(await world.hello(), to, notification(many(600)))).toMatch(TAKEN);
  const kinds = told().map(({ kind, message }) => `${kind} ${message.token?.id}`);
  expect(kinds).toHaveLength(1000);
  expect(kinds.filter((one) => one === `bounce ${numbered(4)}`)).toHaveLength(600);
  expect(kinds.filter((one) => one === `bounce ${numbered(5)}`)).toHaveLength(399);
  expect(kinds).toContain(`unsubscribe ${ABOUT.id}`);
});
