/** What providers answer, and what stands in front of them: pages of proxies, half a JSON, our own secrets. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProviderSettings } from '../../src/domain/relay.ts';
import { judge } from '../../src/transport/providers/judge.ts';
import type { HttpAnswer } from '../../src/transport/providers/provider.ts';
import { providerFor } from '../../src/transport/providers/provider-for.ts';
import { formsOf } from '../../src/transport/providers/words.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const SECRET = 'SECRET-SECRET';
const BASE = { endpoint: 'https://api.x.test', allowPrivate: false, secret: SECRET };
const SETTINGS: readonly ProviderSettings[] = [
  { ...BASE, type: 'ses', region: 'eu-west-1', accessKeyId: 'A', configurationSet: null },
  { ...BASE, type: 'mailgun', domain: 'x.test' },
  { ...BASE, type: 'postmark', messageStream: null },
  { ...BASE, type: 'sendgrid' },
  { ...BASE, type: 'resend' },
  { ...BASE, type: 'graph', tenant: 't', clientId: 'c', mailbox: null, authority: 'https://login.x.test' },
  { ...BASE, type: 'webhook', secret: 'whsec_U0VDUkVULVNFQ1JFVC1TRUNSRVQ=' },
];
const STATUSES = [
  100, 200, 202, 204, 301, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 599, 999,
];
const SECRETS = formsOf(SECRET, {});
const NOW = Date.UTC(2026, 10, 20, 11);

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
  ...[
    '"MessageID":"z"',
    '"MessageId":"z"',
    '"error":{',
    'null',
    '1',
    SECRET,
    'U0VDUkVULVNFQ1JFVA==',
    '\\u0000',
  ],
);
const answers = {
  made: fc.record({
    settings: fc.constantFrom(...SETTINGS),
    answer: fc.record({
      status: fc.constantFrom(...STATUSES),
      headers: fc.record(
        {
          'retry-after': textOf('5', '-', 'Fri, 20 Nov 2026 11:15:00 GMT', '9'),
          location: textOf('https://', 'u:', SECRET, '@x.test', '/a', '?token=', '%', '//'),
          'x-message-id': textOf('a', '<', '>', '\n'),
          'x-amzn-errortype': textOf('Throttling', ':', '#', 'MessageRejected'),
        },
        { requiredKeys: [] },
      ),
      body: fc.oneof(json, nearly),
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
    const judged = { answer, phrase: 'Phrase', isWhole, facts, secrets: SECRETS, now: NOW };
    const { meaning, reply, messageId, restMs } = judge(provider.answers, judged);
    expect(reply.text.length).toBeLessThanOrEqual(1000);
    expect(reply.text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    expect(reply.cause).toMatch(/^provider_[a-z0-9_]{0,64}$/);
    for (const shown of [reply.text, messageId ?? '']) expect(shown).not.toContain(SECRET);
    if (restMs !== null) expect(restMs > 0 && restMs <= 3_600_000).toBe(true);
    const checked = provider.checked?.(answer) ?? null;
    if (checked !== null) expect(typeof checked.text).toBe('string');
    const token = provider.tokens?.read(answer) ?? null;
    if (token !== null) expect(token.token).toMatch(/^[!-~]+$/);
    if (meaning === 'done')
      expect([isWhole, answer.status >= 200 && answer.status < 300]).toEqual([true, true]);
    return meaning === 'done';
  }));
