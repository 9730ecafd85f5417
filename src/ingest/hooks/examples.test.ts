/** What providers document and what was recorded of them, read as contract-2 §A4 says. */
import { expect, test } from 'vitest';
import {
  type HookExample,
  hookExamples,
  hookRequest,
  NOW,
  SETTINGS,
  snsCertificate,
} from '../../../test/support/hook-requests.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { HOOK_TYPES, type HookType } from '../../domain/relay.ts';
import { Hooks } from './hooks.ts';

const body = Buffer.from(snsCertificate.cert);
const hooks = new Hooks({ get: async () => ({ kind: 'answer', body }), clock: new ManualClock(NOW) });
const EXAMPLES = HOOK_TYPES.flatMap((type) =>
  hookExamples(type).map((example): [HookType, string, HookExample] => [type, example.name, example]),
);

/** The names by which providers know the messages of their examples. */
const MESSAGES: Readonly<Record<HookType, RegExp>> = {
  ses: /^(?:EXAMPLE7c|0000|0101)[-\da-f]+-000000$/,
  sendgrid: /^(?:14c5d75ce93|Lli-03HcQ5-JLybO9fXsJg|qNwBLgPQQjW6DJvKQwSAbw|filter0093p1las1)$/,
  mailgun: /^<20[\w.]+@[\w.]+>$/,
  postmark: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
  resend: /^56761188-7520-42d8-8898-ff6fc54ce618$/,
};

test.each(EXAMPLES)('%s: %s', async (type, _, { body, means }) => {
  const request = hookRequest(type, body);
  expect(await hooks.prove(type, request, SETTINGS, NOW)).toEqual({ kind: 'proven' });
  const read = hooks.read(type, request, 'aws');
  if (!read.ok) throw new Error(read.why);
  const shown = read.events.map(({ id, feedback }) => {
    if (feedback === null) return { id, ignored: true };
    const { source, message, at, ...rest } = feedback;
    expect(source).toBe('webhook:aws');
    const { messageId, providerMessageId, ...others } = message;
    expect(others).toEqual({ token: null, id: null });
    const own = type === 'mailgun' ? [messageId, providerMessageId] : [providerMessageId, messageId];
    if (!id.startsWith('dropped - ')) expect(own).toEqual([expect.stringMatching(MESSAGES[type]), null]);
    return { id, ...rest, at: at === null ? null : new Date(at).toISOString() };
  });
  const published = new Date(NOW).toISOString();
  expect(shown).toEqual(
    means.map((one) => ('at' in one && one.at === 'SNS' ? { ...one, at: published } : one)),
  );
});

test('every example says where it was read', () => {
  for (const [, , { source }] of EXAMPLES) expect(source).toMatch(/^https:\/\/\S+/);
});
