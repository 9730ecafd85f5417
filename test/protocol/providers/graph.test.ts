/** Microsoft Graph over a real connection: its token, its answers, and what goes wrong on the way. */
import { describe, expect, test } from 'vitest';
import type { ProviderSettings } from '../../../src/domain/relay.ts';
import { graphAnswers, graphProvider } from '../../../src/transport/providers/graph.ts';
import { type ApiAct, type ApiRequest, answerJson } from '../../peers/provider-api.ts';
import { advanceUntil, only } from '../smtp-out/rig.ts';
import { type ProviderRig, type ProviderRigOptions, SECRET, startProvider } from './rig.ts';
import { holdTo, nameOf, statusFor } from './table.ts';

const MAILBOX = 'news@example.com';
const MAIL = {
  from: 'jane@example.com',
  to: ['bob@example.org'],
  content: 'From: jane@example.com\r\nTo: bob@example.org\r\n\r\nHello.\r\n',
};
const TAKEN: ApiAct = { kind: 'answer', status: 202 };
const TOKEN_PATH = '/contoso.example/oauth2/v2.0/token';
const SEND_PATH = '/users/news%40example.com/sendMail';

/** Graph, and the place where its tokens are had. */
class Graph {
  /** Tokens given, the newest last. */
  readonly tokens: string[] = [];
  /** What is done to each sending; default: it is taken. */
  readonly acts: ApiAct[] = [];
  /** What is done to each who asks for a token, before it gets one. */
  readonly tokenActs: ApiAct[] = [];

  readonly answer = (request: ApiRequest): ApiAct => {
    if (request.path !== TOKEN_PATH) return this.acts.shift() ?? TAKEN;
    const act = this.tokenActs.shift();
    if (act !== undefined) return act;
    this.tokens.push(`token-${this.tokens.length + 1}`);
    return answerJson(200, { token_type: 'Bearer', expires_in: 3600, access_token: this.tokens.at(-1) });
  };
}

async function start(
  mailbox: string | null = MAILBOX,
  options: ProviderRigOptions = {},
): Promise<ProviderRig & { graph: Graph }> {
  const graph = new Graph();
  const settings = {
    type: 'graph',
    tenant: 'contoso.example',
    clientId: 'app',
    authority: '',
    mailbox,
  } as const;
  const rig = await startProvider(settings, {
    api: { answer: graph.answer },
    provider: (made) => graphProvider({ ...graphSettings(made), authority: made.endpoint }),
    ...options,
  });
  return { ...rig, graph };
}

function graphSettings(settings: ProviderSettings) {
  if (settings.type !== 'graph') throw new Error(settings.type);
  return settings;
}

/** What was sent, without what was asked for tokens. */
function sendings(rig: ProviderRig): readonly ApiRequest[] {
  return rig.api.requests.filter(({ path }) => path !== TOKEN_PATH);
}

test('a message is taken: its token, its mailbox, its bytes', async () => {
  const rig = await start();
  const result = await rig.deliver(MAIL);
  expect(only(result)).toMatchObject({ kind: 'delivered', code: 202 });
  expect(result.outcomes[0]).toMatchObject({ providerMessageId: null });
  const [asked, sent] = rig.api.requests;
  expect(new URLSearchParams(asked?.body.toString()).get('client_secret')).toBe(SECRET);
  expect(sent).toMatchObject({
    path: SEND_PATH,
    headers: { authorization: 'Bearer token-1', 'content-type': 'text/plain' },
  });
  expect(Buffer.from(sent?.body.toString() ?? '', 'base64').toString()).toBe(MAIL.content);
});

describe.each([
  ['of a mailbox that was set', MAILBOX],
  ['of the mailbox that From names', null],
])('every answer %s', (_, mailbox) => {
  const table = graphAnswers(mailbox === null);
  test.each(table.map((row) => [nameOf(row), row] as const))('%s', async (_name, row) => {
    const rig = await start(mailbox);
    const status = statusFor(row, table);
    const error = { error: { code: row.code ?? 'SomethingElse', message: 'Words of Graph.' } };
    rig.graph.acts.push(status === 202 ? TAKEN : answerJson(status, error));
    const result = await rig.deliver(MAIL);
    holdTo(row, status, result);
    if (status !== 202) expect(only(result).text).toContain('Words of Graph.');
  });
});

describe('the trouble of one mailbox', () => {
  test.each([
    [403, 'ErrorAccessDenied'],
    [403, 'ErrorAccountSuspend'],
    [403, 'ErrorQuotaExceeded'],
    [429, 'ErrorExceededMessageLimit'],
    [400, 'ErrorSubmissionQuotaExceeded'],
    [400, 'ErrorMessageSubmissionBlocked'],
    [507, 'ErrorQuotaExceeded'],
  ])('%i %s is the relay’s illness only where it is its mailbox', async (status, code) => {
    for (const mailbox of [MAILBOX, null]) {
      const rig = await start(mailbox);
      rig.graph.acts.push(answerJson(status, { error: { code, message: 'No.' } }));
      expect(only(await rig.deliver(MAIL))).toMatchObject({
        kind: 'deferred',
        hopFailed: mailbox !== null,
      });
    }
  });

  test('that the application may send for nobody is the relay’s in both cases', async () => {
    const rig = await start(null);
    rig.graph.acts.push(answerJson(403, { error: { code: 'Authorization_RequestDenied', message: 'No.' } }));
    expect(only(await rig.deliver(MAIL))).toMatchObject({ kind: 'deferred', hopFailed: true });
  });
});

describe('what Graph does not say is never the message’s fault', () => {
  const page = (status: number): ApiAct => ({ kind: 'answer', status, body: '<html>Rejected</html>' });
  const coded = (status: number) =>
    answerJson(status, { error: { code: 'ErrorOfTomorrow', message: 'No.' } });
  test.each([400, 404, 406, 415, 422, 451])('%i', async (status) => {
    for (const mailbox of [MAILBOX, null])
      for (const act of [page(status), coded(status)]) {
        const rig = await start(mailbox);
        rig.graph.acts.push(act);
        expect(only(await rig.deliver(MAIL)).kind).toBe('deferred');
      }
  });

  test.each(['ErrorInvalidUser', 'ResourceNotFound'])(
    '%s does, of a From without a mailbox',
    async (code) => {
      const rig = await start(null);
      rig.graph.acts.push(answerJson(404, { error: { code, message: 'No.' } }));
      expect(only(await rig.deliver(MAIL)).kind).toBe('rejected');
    },
  );
});

describe('an answer', () => {
  test('of 200, as for what is too large, is not taken for a success', async () => {
    const rig = await start();
    rig.graph.acts.push({ kind: 'answer', status: 200, body: '{"not": "JSON' });
    expect(only(await rig.deliver(MAIL))).toMatchObject({ kind: 'unknown', code: 200 });
  });

  test('of 429 has the relay rest for as long as it asks', async () => {
    const rig = await start();
    rig.graph.acts.push(
      answerJson(429, { error: { code: 'ApplicationThrottled' } }, { 'retry-after': '17' }),
    );
    const result = await rig.deliver(MAIL);
    expect(only(result)).toMatchObject({ kind: 'deferred', hopFailed: true });
    expect(result.restMs).toBe(17_000);
  });

  test('that never comes leaves it open', async () => {
    const rig = await start(MAILBOX, {
      timeouts: { answer: 1000 },
    });
    rig.graph.acts.push({ kind: 'hang', when: 'body' });
    const delivering = rig.deliver(MAIL);
    await rig.api.until(2);
    expect(only(await advanceUntil(rig.clock, 100, delivering))).toMatchObject({
      kind: 'unknown',
      cause: 'timeout_answer',
    });
  });
});

describe('an envelope that the header does not say', () => {
  test.each([
    ['another recipient', { to: ['eve@example.org'] }],
    ['one of two recipients', { content: `To: bob@example.org, ann@example.org\r\n${MAIL.content}` }],
    ['another reverse-path', { from: 'bounces@example.com' }],
  ])('%s: nothing is sent, and another relay may', async (_, change) => {
    const rig = await start();
    expect(only(await rig.deliver({ ...MAIL, ...change }))).toMatchObject({
      kind: 'rejected',
      hopBound: true,
      hopFailed: false,
      cause: 'envelope_differs',
    });
    expect(sendings(rig)).toEqual([]);
  });

  test('the null reverse-path', async () => {
    const rig = await start();
    expect(only(await rig.deliver({ ...MAIL, from: '' }))).toMatchObject({
      kind: 'rejected',
      hopBound: true,
    });
    expect(sendings(rig)).toEqual([]);
  });
});

describe('the token', () => {
  test('is asked for once for fifty who need it', async () => {
    const rig = await start();
    const results = await Promise.all(Array.from({ length: 50 }, () => rig.deliver(MAIL)));
    expect(results.map((result) => only(result).kind)).toEqual(Array(50).fill('delivered'));
    expect(rig.graph.tokens).toHaveLength(1);
    expect(sendings(rig)).toHaveLength(50);
  });

  test('is renewed before it ends, and not sooner', async () => {
    const rig = await start();
    await rig.deliver(MAIL);
    await rig.clock.advance(50 * 60_000);
    await rig.deliver(MAIL);
    expect(rig.graph.tokens).toHaveLength(1);
    await rig.clock.advance(6 * 60_000);
    await rig.deliver(MAIL);
    expect(rig.graph.tokens).toHaveLength(2);
    expect(sendings(rig).at(-1)?.headers['authorization']).toBe('Bearer token-2');
  });

  test('is dropped when it is not taken, and the message is not lost', async () => {
    const rig = await start();
    const error = { error: { code: 'InvalidAuthenticationToken', message: 'Access token has expired.' } };
    rig.graph.acts.push(answerJson(401, error));
    expect(only(await rig.deliver(MAIL))).toMatchObject({ kind: 'deferred', hopFailed: true });
    expect(only(await rig.deliver(MAIL)).kind).toBe('delivered');
    expect(sendings(rig).map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  test.each([
    [
      'is refused',
      answerJson(401, { error: 'invalid_client', error_description: `AADSTS7000215: ${SECRET}` }),
    ],
    ['comes of another type', answerJson(200, { access_token: 'a', token_type: 'mac', expires_in: 60 })],
    ['comes as bad JSON', { kind: 'answer', status: 200, body: '<html>' } as const],
  ])('that %s is the relay’s illness, and no secret is told', async (_, act) => {
    const rig = await start();
    rig.graph.tokenActs.push(act);
    const end = only(await rig.deliver(MAIL));
    expect(end).toMatchObject({ kind: 'deferred', hopFailed: true, cause: expect.stringMatching(/^token_/) });
    expect(end.text).not.toContain(SECRET);
    expect(sendings(rig)).toEqual([]);
  });
});

describe('the probe sends nothing', () => {
  const refused = (code: string) => answerJson(code === 'ErrorAccessDenied' ? 403 : 400, { error: { code } });
  test.each([
    ['ErrorMimeContentInvalidBase64String', true],
    ['ErrorAccessDenied', false],
    ['ErrorInvalidRecipients', false],
  ])('%s: well is %s', async (code, isWell) => {
    const rig = await start();
    rig.graph.acts.push(refused(code));
    expect((await rig.transport.probe?.(new AbortController().signal))?.trouble === null).toBe(isWell);
    expect(sendings(rig).map(({ body }) => body.toString())).toEqual(['!']);
  });
});
