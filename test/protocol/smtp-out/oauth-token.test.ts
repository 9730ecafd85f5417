/** The access tokens of a smarthost: for how long one is used, by whom, and what comes of one that cannot be had. */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXCHANGE_REFUSED, entraToken, GOOGLE_ERRORS } from '../../peers/oauth-documents.ts';
import { type ApiAct, type ApiRequest, answerJson } from '../../peers/provider-api.ts';
import { aadsts, authority, GOOGLE, REFRESH, SECRET, start, USER } from './oauth-rig.ts';
import { advanceUntil, only } from './rig.ts';

beforeAll(() => setDefaultCACertificates([authority.cert]));

describe('a token', () => {
  test('is asked for once for all connections, and used until shortly before its end', async () => {
    const world = await start();
    const results = await Promise.all(Array.from({ length: 5 }, () => world.deliver()));
    expect(results.map((result) => only(result).kind)).toEqual(Array(5).fill('delivered'));
    expect(world.heard.map(([, token]) => token)).toEqual(Array(5).fill('token-1'));
    expect(world.api.requests).toHaveLength(1);
    // 3599 s, less five minutes; idle connections close meanwhile.
    await world.clock.advance(3_298_000);
    await world.deliver();
    expect(world.api.requests).toHaveLength(1);
    await world.clock.advance(11_000);
    await world.deliver();
    expect(world.api.requests).toHaveLength(2);
    expect(world.heard.at(-1)).toEqual([USER, 'token-2']);
  });

  test('that cannot be renewed in time is used to its end', async () => {
    const world = await start();
    await world.deliver();
    await world.clock.advance(3_400_000);
    world.api.script.push(answerJson(503, {}));
    expect(only(await world.deliver()).kind).toBe('delivered');
    expect([world.api.requests.length, world.heard.at(-1)?.[1]]).toEqual([2, 'token-1']);
    await world.clock.advance(200_000);
    world.api.script.push(answerJson(503, {}));
    expect(only(await world.deliver())).toMatchObject({ cause: 'token_unavailable', hopFailed: true });
  });

  test('that is refused by a 535 is given up, and one request brings all connections another', async () => {
    const revoked = new Set(['token-1']);
    const world = await start({ bearer: { takes: (_, token) => !revoked.has(token) } });
    const results = await Promise.all(Array.from({ length: 4 }, () => world.deliver()));
    expect(results.map((result) => only(result).kind)).toEqual(Array(4).fill('delivered'));
    expect(world.api.requests).toHaveLength(2);
  });

  test('that is revoked in the midst of its life is replaced', async () => {
    const revoked = new Set<string>();
    const world = await start({ bearer: { takes: (_, token) => !revoked.has(token) } });
    expect(only(await world.deliver()).kind).toBe('delivered');
    revoked.add('token-1');
    await world.clock.advance(60_000);
    expect(only(await world.deliver()).kind).toBe('delivered');
    expect(world.heard.map(([, token]) => token)).toEqual(['token-1', 'token-1', 'token-2']);
  });

  test('and its successor that are both refused are the relay’s illness, with what to do, and no third is asked for', async () => {
    const world = await start({ bearer: { takes: () => false, refusal: EXCHANGE_REFUSED } });
    const end = only(await world.deliver());
    expect(end).toMatchObject({ kind: 'deferred', cause: 'auth_failed', code: 535, hopFailed: true });
    expect(end.text).toContain('535 5.7.3 Authentication unsuccessful');
    expect(end.text).toContain('Add-MailboxPermission');
    expect(world.api.requests).toHaveLength(2);
    expect(world.heard).toHaveLength(2);
  });

  test('that comes without a lifetime is used for an hour', async () => {
    const world = await start({
      api: { answer: () => answerJson(200, { access_token: 'token-x', token_type: 'bearer' }) },
    });
    await world.deliver();
    await world.clock.advance(3_290_000);
    await world.deliver();
    expect(world.api.requests).toHaveLength(1);
    await world.clock.advance(11_000);
    await world.deliver();
    expect(world.api.requests).toHaveLength(2);
  });

  test('that came with another refresh token is renewed by that one, which no record shows', async () => {
    let given = 0;
    const answer = ({ body }: ApiRequest): ApiAct => {
      const shown = new URLSearchParams(body.toString()).get('refresh_token');
      if (shown !== (given === 0 ? REFRESH : `rotated~refresh-token?${given}`))
        return answerJson(400, { error: 'invalid_grant', error_description: `reuse of ${shown}` });
      given++;
      const next = `rotated~refresh-token?${given}`;
      return answerJson(200, { ...entraToken(`token-${given}`), refresh_token: next });
    };
    const world = await start({ grant: GOOGLE, api: { answer } });
    const told = [await world.deliver()];
    for (const token of ['token-2', 'token-3']) {
      await world.clock.advance(3_400_000);
      told.push(await world.deliver());
      expect(world.heard.at(-1)).toEqual([USER, token]);
    }
    // A server that ends it all the same may repeat it, as it is or as it was sent.
    given = 9;
    await world.clock.advance(3_700_000);
    told.push(await world.deliver());
    expect(only(told.at(-1) ?? expect.fail()).text).toContain('reuse of …');
    const { body } = world.api.requests.at(-1) ?? expect.fail();
    world.api.script.push(answerJson(400, { error: 'invalid_grant', error_description: `of ${body}` }));
    told.push(await world.deliver());
    expect(JSON.stringify(told)).not.toMatch(/rotated(~|%7E)refresh|client(~|%7E)secret/);
  });

  test('is not asked for anew after any other refusal', async () => {
    const world = await start({ bearer: { takes: () => false, refusal: '454 4.7.0 Temporary failure' } });
    expect(only(await world.deliver())).toMatchObject({ cause: 'auth_failed', code: 454, hopFailed: true });
    expect(world.api.requests).toHaveLength(1);
  });
});

describe('a token that cannot be had is the relay’s illness, and names its cause', () => {
  test.each<[string, ApiAct, string, RegExp]>([
    [
      'a wrong secret',
      aadsts(7000215, 'invalid_client', `Invalid client secret provided: ${SECRET}.`),
      'token_refused',
      /AADSTS7000215: Invalid client secret provided: ….*What to do: the client secret is wrong/,
    ],
    [
      'an old secret',
      aadsts(7000222, 'invalid_client', 'The keys are expired.'),
      'token_refused',
      /has expired/,
    ],
    [
      'no such tenant',
      aadsts(90002, 'invalid_request', 'Tenant not found.'),
      'token_refused',
      /correct tenant/,
    ],
    [
      'a code that is not known',
      aadsts(99999, 'invalid_client', 'Odd.'),
      'token_refused',
      /AADSTS99999: Odd$/,
    ],
    ['a revoked grant', answerJson(400, GOOGLE_ERRORS.revoked), 'token_refused', /consent again/],
    ['no delegation', answerJson(401, GOOGLE_ERRORS.delegation), 'token_refused', /Domain-wide delegation/],
    ['a wrong clock', answerJson(400, GOOGLE_ERRORS.clock), 'token_refused', /the clock of this machine/],
    ['a wrong key', answerJson(400, GOOGLE_ERRORS.signature), 'token_refused', /key of the service account/],
    ['a wrong subject', answerJson(400, GOOGLE_ERRORS.subject), 'token_refused', /correct subject/],
    ['a fault of the server', answerJson(500, {}), 'token_unavailable', /status 500/],
    [
      'garbage',
      { kind: 'answer', status: 200, body: '<html>' },
      'token_unavailable',
      /answer without a token/,
    ],
    [
      'a huge body',
      { kind: 'answer', status: 200, body: `{"access_token":"${'x'.repeat(1_000_000)}"` },
      'token_unavailable',
      /answer without a token/,
    ],
    [
      'a redirect',
      { kind: 'answer', status: 302, headers: { location: 'https://elsewhere.example/token' } },
      'token_refused',
      /not followed: correct token_url/,
    ],
    ['a lost connection', { kind: 'close', when: 'body' }, 'connection_lost', /^No access token: /],
  ])('%s', async (_, act, cause, text) => {
    const world = await start();
    world.api.script.push(act);
    const result = await world.deliver();
    const end = only(result);
    expect(end).toMatchObject({ kind: 'deferred', cause, hopFailed: true });
    expect(end.text).toMatch(text);
    expect(end.text).not.toMatch(/Trace ID|\n/);
    expect(JSON.stringify(result)).not.toContain(SECRET);
    expect(world.sink.connections).toBe(0);
    expect(only(await world.deliver()).kind).toBe('delivered');
  });

  test('a slow answer is given up after half a minute', async () => {
    const world = await start();
    world.api.script.push({ kind: 'hang', when: 'body' });
    const end = only(await advanceUntil(world.clock, 1000, world.deliver()));
    expect(end).toMatchObject({ kind: 'deferred', cause: 'timeout_answer', hopFailed: true });
    expect(world.clock.mono()).toBeLessThan(40_000);
  });

  test('what the endpoint asks to wait is asked of the relay', async () => {
    const world = await start();
    world.api.script.push(answerJson(429, {}, { 'retry-after': '120' }));
    expect(await world.deliver()).toMatchObject({ hopFailed: true, restMs: 120_000 });
  });
});
