import { expect, test } from 'vitest';
import { actorWords, isAlarming, refusalOf } from './words.ts';

test('what failed catches the eye', () => {
  expect([isAlarming('signInFailed'), isAlarming('signIn')]).toEqual([true, false]);
});

test.each([
  [{ error: 'refused' }, 'refused'],
  [{ error: 'refused', name: 'x' }, null],
  [{ name: 'x' }, null],
  [null, null],
])('what is noted as %j was not done because: %s', (after, refusal) => {
  expect(refusalOf({ after })).toBe(refusal);
});

test('those without a name have words', () => {
  expect(actorWords({ actor: 'anna', actorKind: 'user' })).toBe('anna');
  expect(actorWords({ actor: '', actorKind: 'service' })).toBe('the service');
  expect(actorWords({ actor: '', actorKind: 'command' })).toBe('command line');
  expect(actorWords({ actor: '', actorKind: 'user' })).toBe('nobody');
});
