import { expect, test } from 'vitest';
import { shownStatus } from './columns.tsx';

const message = { status: 'queued', outcome: undefined, captured: false, waitingFor: undefined } as const;

test.each([
  ['queued', {}],
  ['scheduled', { waitingFor: 'scheduled' }],
  ['queued', { waitingFor: 'relay_paused' }],
  ['retrying', { status: 'retrying', waitingFor: 'backoff' }],
  ['captured', { status: 'delivered', outcome: 'captured', captured: true }],
  ['cancelled', { status: 'failed', outcome: 'cancelled' }],
  ['failed', { status: 'failed', outcome: 'rejected' }],
] as const)('a row says %s of %j', (shown, facts) => {
  expect(shownStatus({ ...message, ...facts })).toBe(shown);
});
