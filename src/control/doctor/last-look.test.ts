import { expect, test } from 'vitest';
import { fail, ok, warn } from './finding.ts';
import { doctorBanners } from './last-look.ts';

test('faults that the doctor found are told, but for those that the Overview tells of otherwise', () => {
  const rest = { cause: null, reply: null, since: null, until: null };
  const findings = [
    ok('clock', 'It is right.'),
    warn('certificate', 'It expires soon.', 'renew it'),
    fail('disk', 'It is full.', 'free some'),
    fail('relay out', 'It does not answer.', 'look'),
    fail('relay spare', 'It does not answer.', 'look'),
  ];
  const relays = [
    { name: 'out', rest },
    { name: 'spare', rest: null },
  ];
  expect(doctorBanners({ at: 0, findings }, [{ code: 'disk' }], relays)).toEqual([
    {
      code: 'relay spare',
      level: 'warning',
      text: 'relay spare: It does not answer.',
      foundAt: '1970-01-01T00:00:00.000Z',
    },
  ]);
  expect(doctorBanners(null, [], relays)).toEqual([]);
  const many = Array.from({ length: 9 }, (_, n) => fail(`relay r${n}`, 'It does not answer.', 'look'));
  expect(doctorBanners({ at: 0, findings: many }, [], [])).toHaveLength(5);
});
