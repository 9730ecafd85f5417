import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BREAKER_STATES } from './queue.ts';

test('the guide says what the lists call each state that /health has', () => {
  const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const [state, word] of Object.entries(BREAKER_STATES))
    expect(guide).toContain(`| \`${state}\` | \`${word}\` |`);
});
