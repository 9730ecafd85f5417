import { expect, test } from 'vitest';
import { assessHealth, type HealthFacts } from '../../../../src/domain/health.ts';
import { MAX_FAILURES, SHOWN_FAILURES } from '../../../../src/operations/search.ts';
import { failuresNote, isToldByRows } from './banners.tsx';

type Relay = HealthFacts['relays'][number];

/** A relay; `refused`: its next hop refuses us. */
function relay(name: string, state: Relay['state'], refused = false): Relay {
  return { name, state, disabled: false, refusal: refused ? 'it refused the password (535)' : null };
}

/** What health says of these relays alone. */
function check(...relays: Relay[]) {
  const { checks } = assessHealth({
    store: 'well',
    disk: 'ok',
    diskHoldsMail: true,
    portFaults: [],
    smtpBound: true,
    relays,
    spent: [],
    latenessMs: 0,
    restored: 0,
    unrouted: false,
    missingRelays: [],
    missingNodes: [],
    certificateLeftMs: null,
    notices: [],
  });
  const found = checks.find(({ name }) => name === 'relays');
  return { code: 'relays', text: found?.detail ?? '' };
}

const OUT = { name: 'out' };

test.each([
  ['one that rests', check(relay('out', 'open')), [OUT], true],
  ['one that rests and is refused', check(relay('out', 'open', true)), [OUT], true],
  ['none in a row', check(relay('out', 'open')), [], false],
  [
    'another that is refused and does not rest',
    check(relay('out', 'open'), relay('spare', 'closed', true)),
    [OUT],
    false,
  ],
  [
    'more than are named',
    check(...['a', 'b', 'c', 'd'].map((name) => relay(name, 'open', true))),
    [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    false,
  ],
  ['another check', { code: 'disk', text: 'The disk is full.' }, [OUT], false],
])('of %s', (_what, banner, rows, isTold) => {
  expect(isToldByRows(banner, rows)).toBe(isTold);
});

test('failures say what they are the last of, unless they are all', () => {
  expect(failuresNote(SHOWN_FAILURES)).toBe(
    `The last ${SHOWN_FAILURES} of the ${MAX_FAILURES} newest messages that failed.`,
  );
  expect(failuresNote(SHOWN_FAILURES - 1)).toBeNull();
});
