/** What token endpoints answer, and what stands in front of them: a token, or one line that shows none of our secrets. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OAuthGrant } from '../../src/domain/relay.ts';
import { tokenSource } from '../../src/transport/providers/grants.ts';
import type { HttpAnswer } from '../../src/transport/providers/provider.ts';
import { Tokens } from '../../src/transport/providers/tokens.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const SECRET = 'client~secret?VALUE';
const REFRESH = 'refresh~token/VALUE';
const NEXT = 'another~refresh/VALUE';
const FORMS = [SECRET, REFRESH, NEXT].flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('base64'),
  encodeURIComponent(secret),
  new URLSearchParams([['', secret]]).toString().slice(1),
]);
const GRANT: OAuthGrant = { kind: 'refresh_token', clientId: 'c', secret: SECRET, refreshToken: REFRESH };
const STATUSES = [200, 200, 200, 201, 302, 400, 401, 403, 408, 429, 500, 503];

const said = textOf('AADSTS7000215: ', 'AADSTS', 'no ', '\r\nTrace ID: x', ' ', ...FORMS);
const member = fc.oneof(said, fc.constantFrom(null, 0, -1, 1e308, '', '60', '1e9', true), fc.constant([60]));
const telling = fc
  .record(
    {
      access_token: fc.oneof(member, fc.constant('eyJ0.x')),
      refresh_token: fc.oneof(member, fc.constant(NEXT)),
      token_type: fc.oneof(member, fc.constant('Bearer')),
      expires_in: fc.oneof(member, fc.nat(5_000)),
      error: fc.oneof(fc.constantFrom('invalid_grant', 'invalid_client'), member),
      error_description: member,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value));
const answers = {
  made: fc.record({
    status: fc.constantFrom(...STATUSES),
    headers: fc.record(
      { 'retry-after': textOf('5', '-', '9'), location: textOf('https://', '@x.test', '?a=', ...FORMS) },
      { requiredKeys: [] },
    ),
    body: fc.oneof(telling, fc.json({ maxDepth: 2 }), said),
  }),
  corpus: corpus('provider-answer', (bytes, dice): HttpAnswer => {
    const body = bytes.toString();
    return {
      status: dice.pick(STATUSES),
      headers: dice.once(3) ? { location: body.slice(0, 99) } : {},
      body,
    };
  }),
};

test('any answer gives a token for a while, or one line without our secrets, those it has just given included', () =>
  fuzz('token answer', answers, async (answer: HttpAnswer) => {
    const source = tokenSource(GRANT, { url: 'https://t.test/token', setting: 'token_url', scope: null });
    const exchanged = { kind: 'answer', phrase: 'Phrase', isWhole: true } as const;
    const given = JSON.stringify({ access_token: 'a', refresh_token: NEXT, expires_in: 60 });
    const came = [{ status: 200, headers: {}, body: given }, answer];
    const clock = new ManualClock();
    const call = () => Promise.resolve({ ...exchanged, answer: came.shift() ?? answer });
    const tokens = new Tokens({ source, call, clock });
    const { signal } = new AbortController();
    const told: string[] = [];
    await tokens.get(signal);
    tokens.drop('a');
    const result = await tokens.get(signal, (text) => told.push(text));
    if (result.ok) expect(result.token).toMatch(/^[!-~]{1,20000}$/);
    else {
      told.push(result.reply.text);
      expect(result.reply.text.length).toBeLessThanOrEqual(1000);
      expect(result.reply.cause).toMatch(/^token_(?:refused|unavailable)$/);
      if (result.restMs !== null) expect(result.restMs > 0 && result.restMs <= 3_600_000).toBe(true);
    }
    expect(told.join('')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    for (const secret of FORMS) expect(told.join('\n')).not.toContain(secret);
    return result.ok;
  }));
