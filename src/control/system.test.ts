import { expect, test } from 'vitest';
import { actionWords } from './system.ts';

test.each([
  ['revokeKey', 'Revoked an API key'],
  ['signInFailed', 'Failed to sign in'],
  ['someNewThing', 'Some new thing'],
  ['spool.swept', 'Spool swept'],
])('%s reads in the activity: %s', (action, words) => {
  expect(actionWords(action)).toBe(words);
});
