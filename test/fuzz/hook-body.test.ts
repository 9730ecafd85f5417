/** Bodies of providers' webhooks, proven or not: what anybody may post, and what providers may post some day. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOOK_TYPES, type HookType } from '../../src/domain/relay.ts';
import { Hooks } from '../../src/ingest/hooks/hooks.ts';
import type { HookRequest } from '../../src/ingest/hooks/proof.ts';
import { MAX_EVENTS, MAX_ID } from '../../src/ingest/hooks/reading.ts';
import {
  hookExamples,
  hookRequest,
  NOW,
  notification,
  SETTINGS,
  SVIX_ID,
  snsRequest,
} from '../support/hook-requests.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const hooks = new Hooks({ get: async () => ({ kind: 'failed', text: 'no' }), clock: new ManualClock(NOW) });
const HEADERS = hookRequest('resend', {}, { headers: { 'svix-signature': 'v1,AAAA' } }).headers;
/** Unsigned, and long enough to be looked at. */
const SIGNATURE = 'A'.repeat(344);

interface Given {
  readonly type: HookType;
  readonly request: HookRequest;
}

/** Bytes as a body, or, for `ses`, also as what was published. */
function given(type: HookType, bytes: Buffer, isPublished: boolean): Given {
  if (type !== 'ses' || !isPublished) return { type, request: { headers: HEADERS, body: bytes } };
  return { type, request: snsRequest({ ...notification(bytes.toString()), Signature: SIGNATURE }) };
}

const WORDS = HOOK_TYPES.flatMap((type) => hookExamples(type)).flatMap(({ body }) => wordsIn(body));

function wordsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? [value] : [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...wordsIn(member)]);
}

const word = fc.oneof(
  fc.constantFrom(...new Set(WORDS)),
  textOf('550', '5.1.1', ' ', 'a@b.test', '<', ',', '\\'),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'body' },
    word,
    fc.constantFrom(null, true, -1, 0, 1.5, 1e21, 1513299569),
    fc.dictionary(word, tie('value'), { maxKeys: 6, depthIdentifier: 'body' }),
    fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'body' }),
  ),
}));
const examples = HOOK_TYPES.flatMap((type) => hookExamples(type).map(({ body }) => [type, body] as const));
/** An example of a provider, some of whose members are something else. */
const nearly = fc
  .tuple(fc.constantFrom(...examples), fc.array(fc.tuple(fc.nat(60), value), { maxLength: 3 }))
  .map(([[type, body], changes]) => {
    const at = new Map(changes);
    let place = 0;
    const text = JSON.stringify(body, (_, member) => {
      const change = at.get(place++);
      return change === undefined ? member : change;
    });
    return [type, text ?? ''] as const;
  });
const any = fc.tuple(
  fc.constantFrom(...HOOK_TYPES),
  value.map((made) => JSON.stringify(made)),
);
const bodies = {
  made: fc
    .tuple(fc.oneof(nearly, any), fc.boolean())
    .map(([[type, text], isPublished]) => given(type, Buffer.from(text), isPublished)),
  corpus: corpus('hook-body', (bytes, dice): Given => given(dice.pick(HOOK_TYPES), bytes, dice.once(2))),
};

test('any body of any provider is read into bounded feedback, or refused with a status', () =>
  fuzz('hook body', bodies, async ({ type, request }: Given) => {
    const proof = await hooks.prove(type, request, SETTINGS, NOW);
    expect(['bad', 'unavailable']).toContain(proof.kind);
    const read = hooks.read(type, request, 'aws');
    expect(hooks.read(type, request, 'aws')).toEqual(read);
    if (!read.ok) {
      expect([400, 413]).toContain(read.status);
      return false;
    }
    expect(read.events.length).toBeLessThanOrEqual(MAX_EVENTS);
    for (const { id, feedback } of read.events) {
      expect(id).toMatch(/^[\x20-\x7e]+$/);
      expect(id.length).toBeLessThanOrEqual(MAX_ID);
      if (type === 'resend') expect(id).toContain(SVIX_ID);
      if (feedback === null) continue;
      const { message, recipient, bounce, at } = feedback;
      for (const name of [message.messageId, message.providerMessageId])
        expect((name ?? '').length).toBeLessThanOrEqual(MAX_ID + 2);
      expect(recipient ?? 'a@b').toMatch(/^[^\r\n]{1,250}@[^\r\n]{1,253}$/);
      expect(bounce.text.length).toBeLessThanOrEqual(500);
      expect(bounce.text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(bounce.code === null || (bounce.code >= 400 && bounce.code <= 599)).toBe(true);
      expect(bounce.enhancedCode ?? '5.1.1').toMatch(/^[45]\.\d{1,3}\.\d{1,3}$/);
      if (at !== null) expect(new Date(at).toISOString()).toMatch(/^\d{4}-/);
    }
    return read.events.some(({ feedback }) => feedback !== null);
  }));
