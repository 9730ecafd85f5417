/** What providers answer, and what stands in front of them: pages of proxies, half a JSON, our own secrets. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProviderSettings } from '../../src/domain/relay.ts';
import { causeOf, formsOf, judge } from '../../src/transport/providers/judge.ts';
import type { HttpAnswer } from '../../src/transport/providers/provider.ts';
import { providerFor } from '../../src/transport/providers/provider-for.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const SECRET = 'SECRET-SECRET';
/** A webhook's secret without what tells what it is. */
const BARE = 'U0VDUkVULVNFQ1JFVC1TRUNSRVQ=';
/** The secret of all others in base64. */
const ENCODED = 'U0VDUkVULVNFQ1JFVA==';
const BASE = { endpoint: 'https://api.x.test', allowPrivate: false, secret: SECRET };
const SETTINGS: readonly ProviderSettings[] = [
  { ...BASE, type: 'ses', region: 'eu-west-1', accessKeyId: 'A', configurationSet: null },
  { ...BASE, type: 'mailgun', domain: 'x.test' },
  { ...BASE, type: 'postmark', messageStream: null },
  { ...BASE, type: 'sendgrid' },
  { ...BASE, type: 'resend' },
  { ...BASE, type: 'graph', tenant: 't', clientId: 'c', mailbox: null, authority: 'https://login.x.test' },
  { ...BASE, type: 'webhook', secret: `whsec_${BARE}` },
];
const STATUSES = [
  100, 200, 202, 204, 301, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 599, 999,
];
const NOW = Date.UTC(2026, 10, 20, 11);
const TOKEN = 'TOKEN-TOKEN';

/** What no text may show of a relay's secret, as the transport makes it: of the secret itself, and of a request with it. */
function secretsOf(settings: ProviderSettings): string[] {
  const provider = providerFor(settings);
  const requests = [provider.check({ now: NOW, token: TOKEN }), provider.tokens?.ask(NOW)];
  return formsOf(settings.secret, Object.assign({}, ...requests.map((request) => request?.headers)));
}

/** By type. */
const SECRETS = new Map(SETTINGS.map((settings) => [settings.type, secretsOf(settings)]));
const ALL_SECRETS = [SECRET, BARE, ENCODED, ...new Set([...SECRETS.values()].flat())] as const;

interface Given {
  readonly settings: ProviderSettings;
  readonly answer: HttpAnswer;
  readonly isWhole: boolean;
}

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
const nearly = textOf(
  ...([
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"id":"x"',
    '"message":"y"',
    '"errors":[',
    '"code":',
    '"ErrorCode":0',
  ] as const),
  ...['"MessageID":"z"', '"MessageId":"z"', '"error":{', 'null', '1', '\\u0000', ...ALL_SECRETS],
);
const said = textOf('no ', 'such key: ', '', ...ALL_SECRETS);
/** What providers say in the places where they say it. */
const telling = fc
  .record(
    {
      message: said,
      Message: said,
      detail: said,
      error_description: said,
      id: said,
      __type: said,
      name: said,
      code: said,
      ErrorCode: fc.constantFrom(10, 406),
      error: fc.oneof(said, fc.record({ code: said, message: said })),
      errors: fc.array(fc.record({ message: said, field: said }), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value));
const answers = {
  made: fc.record({
    settings: fc.constantFrom(...SETTINGS),
    answer: fc.record({
      status: fc.constantFrom(...STATUSES),
      headers: fc.record(
        {
          'retry-after': textOf('5', '-', 'Fri, 20 Nov 2026 11:15:00 GMT', '9'),
          location: textOf('https://', 'u:', '@x.test', '/a', '?token=', '%', '//', ...ALL_SECRETS),
          'x-message-id': textOf('a', '<', '>', '\n', ...ALL_SECRETS),
          'x-amzn-errortype': textOf('Throttling', ':', '#', 'MessageRejected'),
        },
        { requiredKeys: [] },
      ),
      body: fc.oneof(json, nearly, telling),
    }),
    isWhole: fc.boolean(),
  }),
  corpus: corpus('provider-answer', (bytes, dice): Given => {
    const body = bytes.toString();
    const headers = {
      'retry-after': body.slice(0, 40),
      location: body.slice(0, 200),
      'x-message-id': body.slice(0, 99),
    };
    const answer = { status: dice.pick(STATUSES), headers: dice.once(3) ? headers : {}, body };
    return { settings: dice.pick(SETTINGS), answer, isWhole: dice.once(2) };
  }),
};

test('any answer of any provider is judged in one line without our secrets, and taken only when it says so', () =>
  fuzz('provider answer', answers, ({ settings, answer, isWhole }: Given) => {
    const provider = providerFor(settings);
    const facts = provider.read(answer);
    const secrets = SECRETS.get(settings.type) ?? [];
    const judged = { answer, phrase: 'Phrase', isWhole, facts, secrets, now: NOW };
    const { meaning, reply, messageId, restMs } = judge(provider.answers, judged);
    expect(reply.text.length).toBeLessThanOrEqual(1000);
    expect(reply.text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    expect(reply.cause).toMatch(/^provider_[a-z0-9_]{0,64}$/);
    for (const secret of [...secrets, ...(settings.type === 'webhook' ? [BARE] : [SECRET, ENCODED])]) {
      for (const shown of [reply.text, messageId ?? '']) expect(shown).not.toContain(secret);
      expect(reply.cause).not.toContain(causeOf(secret).replace('provider_', ''));
    }
    if (restMs !== null) expect(restMs > 0 && restMs <= 3_600_000).toBe(true);
    const checked = provider.checked?.(answer) ?? null;
    if (checked !== null) expect(typeof checked.text).toBe('string');
    const token = provider.tokens?.read(answer) ?? null;
    if (token !== null) expect(token.token).toMatch(/^[!-~]+$/);
    if (meaning === 'done')
      expect([isWhole, answer.status >= 200 && answer.status < 300]).toEqual([true, true]);
    return meaning === 'done';
  }));

/** Where the secret may stand in a text, if texts are cut after 200, 255, 1,000 or 2,000 characters. */
const BEFORE_CUTS = [200, 255, 1000, 2000].flatMap((cut) => [3, 7, 12].map((shown) => cut - shown));

test.each(SETTINGS)('what is cut of an answer of $type shows no part of a secret', (settings) => {
  const provider = providerFor(settings);
  const secrets = SECRETS.get(settings.type) ?? [];
  const start = settings.secret.slice(0, 7);
  for (const before of BEFORE_CUTS)
    for (const status of [202, 401, 422]) {
      const text = 'x'.repeat(before) + settings.secret;
      const whole = { id: text, MessageID: text, message: text, detail: text, error: { message: text } };
      for (const body of [text, JSON.stringify(whole)]) {
        const answer = { status, headers: { 'content-type': 'text/plain', 'x-message-id': text }, body };
        const facts = provider.read(answer);
        const judged = { answer, phrase: 'Phrase', isWhole: true, facts, secrets, now: NOW };
        const { reply, messageId } = judge(provider.answers, judged);
        expect(reply.text).not.toContain(start);
        expect(messageId ?? '').not.toContain(start);
      }
    }
});
