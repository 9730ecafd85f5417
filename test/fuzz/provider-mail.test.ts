/** Bodies and headers at the APIs of providers, over HTTP: a message that is taken, or a refusal in the provider's shape. */
import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { APIS, ProviderClients } from '../protocol/http/providers/provider-clients.ts';
import { type Answer, World } from '../protocol/http/world.ts';
import { corpus, examplesIn } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

/** Mailgun's forms have a target of their own. */
type Fuzzed = 'resend' | 'postmark' | 'sendgrid' | 'ses';

interface Given {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** A field that no provider has, in a message that is good but for it. */
  readonly unknown: string | null;
}

/** What a world keeps of messages goes with it. */
const WORLD_LASTS = 500;
const PATHS: Readonly<Record<Fuzzed, readonly string[]>> = {
  resend: ['/emails', '/emails', '/emails/batch'],
  postmark: ['/email', '/email', '/email/batch', '/message-streams/outbound/suppressions'],
  sendgrid: ['/v3/mail/send'],
  ses: ['/v2/email/outbound-emails', '/v2/email/outbound-emails', '/v2/email/outbound-bulk-emails'],
};
const SCOPES = ['messages:send', 'suppressions:write'] as const;
const PROVIDERS: readonly Fuzzed[] = ['resend', 'postmark', 'sendgrid', 'ses'];

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let world: World | null = null;
let clients: ProviderClients;
let key = '';
let left = 0;

beforeEach(() => {
  left = 0;
});
afterAll(async () => {
  agent.destroy();
  await world?.close();
});

async function fresh(): Promise<World> {
  if (world !== null && left-- > 0) return world;
  await world?.close();
  const one = await World.start({ epoch: Date.now() });
  world = one;
  clients = new ProviderClients(one);
  key = await clients.keyOf({ scopes: SCOPES });
  left = WORLD_LASTS;
  return one;
}

/** Over a connection that is kept: opening one costs more than the rest. */
function ask(port: number, path: string, headers: Given['headers'], body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent });
    asked.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const json = text === '' ? {} : JSON.parse(text);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    asked.end(body);
  });
}

const EXAMPLES = examplesIn('provider-mail').flatMap(({ name, bytes }) => {
  const provider = PROVIDERS.find((one) => name.startsWith(one));
  return provider === undefined ? [] : [{ provider, value: JSON.parse(bytes.toString()) as unknown }];
});

function wordsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? [value] : [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...wordsIn(member)]);
}

const word = fc.oneof(
  fc.constantFrom(...new Set(EXAMPLES.flatMap(({ value }) => wordsIn(value)))),
  textOf(
    'a@b.cd',
    '<',
    '>',
    ',',
    '"',
    '{{',
    '}}',
    '{{{',
    '%',
    '=?utf-8?q?x?=',
    'cid:',
    '\r\n',
    'in 5 min',
    'A===',
  ),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'body' },
    word,
    fc.constantFrom(null, true, -1, 0, 1.5, 1e21, 1795802797),
    fc.dictionary(word, tie('value'), { maxKeys: 6, depthIdentifier: 'body' }),
    fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'body' }),
  ),
}));

/** An example of a provider, some of whose members are something else. */
function nearly(provider: Fuzzed) {
  const own = EXAMPLES.filter((one) => one.provider === provider).map((one) => one.value);
  const changes = fc.array(fc.tuple(fc.nat(60), value), { maxLength: 3 });
  return fc.tuple(fc.constantFrom(...own), changes).map(([example, changed]) => {
    const at = new Map(changed);
    let place = 0;
    return JSON.stringify(example, (_, member) => {
      const change = at.get(place++);
      return change === undefined ? member : change;
    });
  });
}

const HEADERS = ['idempotency-key', 'x-batch-validation', 'amz-sdk-invocation-id', 'x-waybill-box', 'accept'];
const headers = fc.dictionary(
  fc.constantFrom(...HEADERS),
  fc.oneof(
    fc.constantFrom('strict', 'permissive', 'x', '*/*', 'x'.repeat(300)),
    fc.array(fc.integer({ min: 0x20, max: 0xff }), { maxLength: 20 }).map((codes) =>
      // What a client of Node's cannot send it cannot send by mistake either.
      String.fromCharCode(...codes.map((code) => (code === 0x7f ? 0x20 : code))).trim(),
    ),
  ),
  { maxKeys: 2 },
);

function inputsOf(provider: Fuzzed) {
  const paths = PATHS[provider];
  const message = JSON.parse(APIS[provider].message('Hi.')) as object;
  const bodies = fc
    .oneof(
      nearly(provider),
      value.map((made) => JSON.stringify(made)),
    )
    .map((text) => ({ body: Buffer.from(text ?? ''), unknown: null }));
  const unknown = fc.integer({ min: 0, max: 1_000_000 }).map((number) => {
    const name = `zz_${number}`;
    return { body: Buffer.from(JSON.stringify({ ...message, [name]: 1 })), unknown: name };
  });
  const usual = fc.record({ path: fc.constantFrom(...paths), headers, given: bodies });
  const named = fc.record({
    path: fc.constant(APIS[provider].path),
    headers: fc.constant({}),
    given: unknown,
  });
  const made = fc
    .oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: named })
    .map(({ given, ...rest }): Given => ({ ...rest, ...given }));
  const read = (body: Buffer, dice: { pick<T>(from: readonly T[]): T }): Given => ({
    path: dice.pick(paths),
    headers: {},
    body,
    unknown: null,
  });
  return { made, corpus: corpus('provider-mail', read) };
}

test.each(PROVIDERS)('whatever is posted to %s is taken, or refused in its shape', (provider) =>
  fuzz(`mail for ${provider}`, inputsOf(provider), async ({ path, headers: more, body, unknown }: Given) => {
    const { port, lines, seen, logged } = await fresh();
    const sent = clients.headersOf(provider, key, { path, headers: more, body });
    const answer = await ask(port, path, sent, body);
    expect(logged).toEqual([]);
    lines.length = 0;
    seen.length = 0;
    expect(answer.status).toBeLessThan(500);
    if (answer.status < 300) expect(unknown).toBeNull();
    else APIS[provider].told(answer);
    if (unknown !== null) expect(answer.text).toContain(unknown);
    return answer.status < 300;
  }),
);
