/** What nobody has told us the meaning of is not held against the message, whichever provider says it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PROVIDER_TYPES } from '../../../src/config/relay-types.ts';
import type { ProviderType } from '../../../src/domain/relay.ts';
import { judge } from '../../../src/transport/providers/judge.ts';
import type { HttpAnswer } from '../../../src/transport/providers/provider.ts';
import { providerFor } from '../../../src/transport/providers/provider-for.ts';
import { providerRelay, SETTINGS } from './rig.ts';

/** Statuses that say by themselves that it is the message: 413, and what our own webhook defines. */
const TELLING: Readonly<Partial<Record<ProviderType, readonly number[]>>> = { webhook: [400, 413, 422] };

/** A body with a code and a text, where each provider has them. */
const BODIES: Readonly<Record<ProviderType, (code: string, text: string) => unknown>> = {
  ses: (code, message) => ({ __type: code, message }),
  mailgun: (_code, message) => ({ message }),
  postmark: (code, text) => ({ ErrorCode: 100_000 + code.length, Message: text }),
  sendgrid: (code, message) => ({ errors: [{ field: code, message }] }),
  resend: (code, message) => ({ name: code, message }),
  graph: (code, message) => ({ error: { code, message } }),
  webhook: (_code, message) => ({ message }),
};

describe.each(PROVIDER_TYPES)('%s', (type) => {
  const { provider: settings } = providerRelay(SETTINGS[type], 'https://api.example');
  if (!settings) throw new Error('no provider');
  const provider = providerFor(settings);
  const told = TELLING[type] ?? [413];
  const meaningOf = (answer: HttpAnswer) =>
    judge(provider.answers, {
      answer,
      phrase: '',
      isWhole: true,
      facts: provider.read(answer),
      secrets: [],
      now: 0,
    });
  const status = fc.integer({ min: 400, max: 499 }).filter((one) => !told.includes(one));

  test('a 4xx whose code is unknown', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcxyz'), minLength: 3 }).map((name) => `New${name}`);
    fc.assert(
      fc.property(status, word, word, (one, code, text) => {
        const body = JSON.stringify(BODIES[type](code, text));
        const { meaning, reply } = meaningOf({ status: one, headers: {}, body });
        expect(meaning).not.toBe('never');
        expect(reply.enhanced).toMatch(/^4\./);
      }),
    );
  });

  test('a 4xx whose body is not the provider’s', () => {
    const body = fc.constantFrom('', '<html><h1>400 Bad Request</h1></html>', '{}', '[]', 'null', '{"a":');
    fc.assert(
      fc.property(status, body, (one, text) => {
        const { meaning, reply } = meaningOf({ status: one, headers: {}, body: text });
        expect(meaning).not.toBe('never');
        expect(reply.enhanced).toMatch(/^4\./);
      }),
    );
  });
});
