import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Telling } from '../../../src/store/telling.ts';
import { exchangeRaw, RawClient } from '../../peers/http.ts';
import { DOCUMENT } from '../../support/openapi.ts';
import { storeTemplate } from '../../support/stored-template.ts';
import { TELL_RULES, telling } from '../../support/telling.ts';
import { attempt, CAPTURED } from './deliver.ts';
import { toldOf } from './send-example.ts';
import { MAIL, World } from './world.ts';

/** HTTP manners of the ingestion API (contract §1; RFC 9110, RFC 9112), and what it does with those who have none. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({
    scopes: [
      'messages:send',
      'messages:read',
      'messages:content',
      'events:read',
      'suppressions:read',
      'suppressions:write',
      'templates:read',
      'templates:write',
      'webhooks:manage',
      'feedback:write',
      'admin',
    ],
  });
});
afterAll(() => world.close());

const TARGET = '/api/v1/messages';
const BODY = JSON.stringify(MAIL);
/** Fields of a good request. */
const fields = () => `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
const post = (more: string, body: string) => `POST ${TARGET} HTTP/1.1\r\n${fields()}${more}\r\n${body}`;
const get = (more: string) => `GET ${TARGET} HTTP/1.1\r\n${fields()}${more}\r\n`;
const chunked = (chunks: string) => post('Transfer-Encoding: chunked\r\n', chunks);
const hex = (text: string) => text.length.toString(16);
const chunk = `${hex(BODY)}\r\n${BODY}\r\n`;

describe('what is no good HTTP is answered once, logged once, and ends the connection', () => {
  const malformed = 'malformed_request';
  test.each<[string, () => string | Buffer, number, string]>([
    [
      'CL and TE',
      () => post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `${chunk}0\r\n\r\n`),
      400,
      malformed,
    ],
    [
      'TE and CL',
      () => post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `${chunk}0\r\n\r\n`),
      400,
      malformed,
    ],
    [
      'two lengths',
      () => post(`Content-Length: ${BODY.length}\r\nContent-Length: 5\r\n`, BODY),
      400,
      malformed,
    ],
    ['one length twice', () => post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'), 400, malformed],
    ['a list of lengths', () => post('Content-Length: 5, 5\r\n', 'hello'), 400, malformed],
    ['a length below zero', () => post('Content-Length: -1\r\n', ''), 400, malformed],
    ['a length with a sign', () => post('Content-Length: +5\r\n', 'hello'), 400, malformed],
    ['a length in hexadecimal', () => post('Content-Length: 0x5\r\n', 'hello'), 400, malformed],
    [
      'a length beyond any',
      () => post('Content-Length: 99999999999999999999999\r\n', 'hello'),
      400,
      malformed,
    ],
    ['a chunk size that is none', () => chunked('zz\r\nhello\r\n0\r\n\r\n'), 400, malformed],
    ['a chunk size beyond any', () => chunked('fffffffffffffffff\r\nhello\r\n0\r\n\r\n'), 400, malformed],
    ['a negative chunk size', () => chunked('-5\r\nhello\r\n0\r\n\r\n'), 400, malformed],
    ['a chunk longer than its size', () => chunked('5\r\nhello, world\r\n0\r\n\r\n'), 400, malformed],
    [
      'an overlong chunk extension',
      () => chunked(`5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`),
      400,
      malformed,
    ],
    ['a trailer that frames', () => chunked(`${chunk}0\r\nContent-Length: 5\r\n\r\n`), 400, malformed],
    [
      'overlong trailers',
      () => chunked(`${chunk}0\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
      431,
      'header_too_large',
    ],
    ['another transfer coding', () => post('Transfer-Encoding: gzip\r\n', BODY), 400, malformed],
    ['chunked twice', () => post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n'), 400, malformed],
    [
      'chunks in HTTP/1.0',
      () => chunked(`${chunk}0\r\n\r\n`).replace('HTTP/1.1', 'HTTP/1.0'),
      400,
      malformed,
    ],
    ['HTTP/0.9', () => `GET ${TARGET}\r\n\r\n`, 505, 'unsupported_http_version'],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'unsupported_http_version'],
    ['HTTP/2.0 in words', () => get('').replace('HTTP/1.1', 'HTTP/2.0'), 505, 'unsupported_http_version'],
    ['HTTP/1.2', () => get('').replace('HTTP/1.1', 'HTTP/1.2'), 505, 'unsupported_http_version'],
    ['a greeting of TLS', () => Buffer.from('16030100c8010000c40303', 'hex'), 400, 'tls_on_plain_port'],
    ['a greeting of SMTP', () => 'EHLO mail.example.com\r\n', 400, malformed],
    ['a header without a colon', () => get('abc\r\n'), 400, malformed],
    ['a space before the colon', () => get('A : b\r\n'), 400, malformed],
    ['NUL in a header', () => get('A: b\0c\r\n'), 400, malformed],
    ['a bare LF in a header', () => get('A: b\nC: d\r\n'), 400, malformed],
    ['a bare CR in a header', () => get('A: b\rC: d\r\n'), 400, malformed],
    ['a folded header', () => get('A: b\r\n c\r\n'), 400, malformed],
    [
      'white space before the first header',
      () => `GET ${TARGET} HTTP/1.1\r\n ${fields()}\r\n`,
      400,
      malformed,
    ],
    ['bare line feeds throughout', () => `GET ${TARGET} HTTP/1.1\nHost: x\n\n`, 400, malformed],
    ['a control in the target', () => get('').replace(TARGET, '/\x01'), 400, malformed],
    ['bytes beyond ASCII in the target', () => get('').replace(TARGET, '/é'), 400, malformed],
    [
      'a target that is too long',
      () => get('').replace(TARGET, `/${'a'.repeat(9000)}`),
      414,
      'target_too_long',
    ],
    [
      'a target longer than a header',
      () => get('').replace(TARGET, `/${'a'.repeat(30_000)}`),
      414,
      'target_too_long',
    ],
    ['a header that is too large', () => get(`A: ${'a'.repeat(20_000)}\r\n`), 431, 'header_too_large'],
    ['a method nobody knows', () => get('').replace('GET', 'BREW'), 501, 'unsupported_method'],
    ['a method in lower case', () => get('').replace('GET', 'get'), 501, 'unsupported_method'],
    [
      'CONNECT',
      () => 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      501,
      'unsupported_method',
    ],
  ])('%s', async (_, bytes, status, code) => {
    world.lines.length = 0;
    const client = new RawClient(world.port);
    client.socket.write(bytes());
    const answer = await client.closed;
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"code":"${code}"`, 's'));
    expect(answer.match(/^HTTP\/1\.1/gm)).toHaveLength(1);
    expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im);
    expect(world.noted).toEqual([`http.request_refused ${code}`]);
  });
});

describe('what is good HTTP and not to be served is answered once and logged once, as a problem', () => {
  const large = `{"text":"${'x'.repeat(160_000)}"}`;
  const json = (body: string) => post(`Content-Length: ${Buffer.byteLength(body)}\r\n`, body);
  test.each<[string, () => string, number, string]>([
    ['no Host', () => get('').replace('Host: x\r\n', ''), 400, 'host_missing'],
    ['two Hosts', () => get('Host: y\r\n'), 400, 'header_repeated'],
    ['a Host that is none', () => get('').replace('Host: x', 'Host: a b/c'), 400, 'host_malformed'],
    ['two keys', () => get('Authorization: Bearer x\r\n'), 400, 'header_repeated'],
    ['two types', () => get('Content-Type: text/plain\r\n'), 400, 'header_repeated'],
    [
      'an expectation nobody meets',
      () => post('Expect: a-miracle\r\nContent-Length: 5\r\n', 'hello'),
      417,
      'expectation_failed',
    ],
    ['too many headers', () => get('A: b\r\n'.repeat(98)), 431, 'too_many_headers'],
    [
      'gzip, then chunks',
      () => post('Transfer-Encoding: gzip, chunked\r\n', `${chunk}0\r\n\r\n`),
      501,
      'unsupported_transfer_coding',
    ],
    [
      'a content encoding',
      () => post(`Content-Encoding: gzip\r\nContent-Length: ${BODY.length}\r\n`, BODY),
      415,
      'unsupported_content_encoding',
    ],
    [
      'another type',
      () => post('Content-Length: 5\r\n', 'hello').replace('application/json', 'text/plain'),
      415,
      'unsupported_media_type',
    ],
    ['an unknown path', () => get('').replace(TARGET, '/x'), 404, 'not_found'],
    ['OPTIONS for the server', () => get('').replace(`GET ${TARGET}`, 'OPTIONS *'), 404, 'not_found'],
    ['TRACE', () => get('').replace('GET', 'TRACE'), 405, 'method_not_allowed'],
    ['PROPFIND', () => get('').replace('GET', 'PROPFIND'), 405, 'method_not_allowed'],
    ['too large a body', () => json(large), 413, 'content_too_large'],
    ['an unknown parameter', () => get('').replace(TARGET, `${TARGET}?limits=5`), 400, 'invalid_query'],
    ['half a JSON text', () => json('{"from":'), 400, 'malformed_json'],
    ['JSON 100,000 deep', () => json(`{"from":${'['.repeat(100_000)}`), 400, 'json_too_complex'],
    ['JSON with a name twice', () => json('{"to":"a@x.test","to":"b@x.test"}'), 400, 'duplicate_name'],
    ['JSON with half a character', () => json('{"text":"\\ud83d"}'), 400, 'lone_surrogate'],
    ['JSON with __proto__', () => json('{"__proto__":{"from":"a@x.test"}}'), 400, 'forbidden_name'],
    ['JSON with constructor', () => json('{"constructor":{"prototype":{}}}'), 400, 'invalid_submission'],
  ])('%s', async (_, request, status, code) => {
    world.lines.length = 0;
    const client = new RawClient(world.port, request());
    const answer = await client.until(/"requestId":"[^"]+"\}$/);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"code":"${code}"`, 's'));
    client.socket.end();
    await client.closed;
    expect(answer.match(/^HTTP\/1\.1/gm)).toHaveLength(1);
    expect(world.noted.map((line) => line.replace(/^(?:api|http)\.request_refused /, ''))).toEqual([code]);
  });
});

describe('what is unusual and good is served', () => {
  const close = 'Connection: close\r\n';
  test.each<[string, () => string]>([
    ['the absolute form', () => get(close).replace(TARGET, `http://elsewhere.example${TARGET}`)],
    ['an empty line before', () => `\r\n\r\n${get(close)}`],
    ['bytes behind the last request', () => `${get(close)}nonsense`],
    ['HTTP/1.0 without Host', () => get('').replace('HTTP/1.1', 'HTTP/1.0').replace('Host: x\r\n', '')],
    [
      'an offer of h2c',
      () => get('Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n'),
    ],
    [
      'an offer of WebSocket',
      () => get(`Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n`),
    ],
    ['a Host with a port', () => get(close).replace('Host: x', 'Host: [2001:db8::1]:8025')],
  ])('%s', async (_, request) => {
    world.lines.length = 0;
    const answer = await exchangeRaw(world.port, request());
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*"messages"/s);
    expect(answer.match(/^HTTP\/1\.1/gm)).toHaveLength(1);
    expect(world.noted).toEqual([]);
  });

  test('a body of chunks with extensions and trailers, and an offer of h2c with it', async () => {
    const more = 'Transfer-Encoding: chunked\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n';
    const body = `${hex(BODY)};name="value"\r\n${BODY}\r\n0\r\nX-Checksum: 1\r\n\r\n`;
    expect(await exchangeRaw(world.port, post(more, body))).toMatch(/^HTTP\/1\.1 202 /);
  });
});

describe('100 Continue', () => {
  const expecting = (more: string) =>
    post(`Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n${more}`, '');

  test('is sent when the body is wanted, and then the answer', async () => {
    const client = new RawClient(world.port, expecting(''));
    expect(await client.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.socket.write(BODY);
    expect(await client.until(/"status":"queued"/)).toMatch(/HTTP\/1\.1 202 /);
  });

  test.each<[string, () => string, number]>([
    ['the key is not known', () => expecting('').replace(key, 'wb_live_wrong'), 401],
    [
      'the length is too large',
      () => expecting('').replace(`Content-Length: ${BODY.length}`, 'Content-Length: 150001'),
      413,
    ],
    ['the type is wrong', () => expecting('').replace('application/json', 'text/html'), 415],
    ['there is nothing at the path', () => expecting('').replace(TARGET, '/x'), 404],
  ])('is not sent when %s', async (_, request, status) => {
    const client = new RawClient(world.port, request());
    expect(await client.until(/"requestId"/)).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} .*Connection: close`, 's'),
    );
  });

  test('is not sent to a key without requests left', async () => {
    const tired = await world.key({ rateLimit: 1 });
    await world.post(tired, MAIL);
    const client = new RawClient(world.port, expecting('').replace(key, tired));
    expect(await client.until(/"requestId"/)).toMatch(/^HTTP\/1\.1 429 /);
  });
});

describe('methods', () => {
  const described = Object.entries(DOCUMENT['paths'] as Record<string, Record<string, unknown>>);
  const at = (path: string) =>
    path
      .replace('{id}', messageId)
      .replace('{index}', '0')
      .replace('{feedback}', told.id)
      .replace('{address}', 'ann@example.org')
      .replace('{webhook}', webhook.webhook)
      .replace('{template}', 'welcome')
      .replace('{event}', webhook.event)
      .replace('{domain}', 'x.test')
      .replace(/explain$/, 'explain?from=a@example.com&to=b@example.com');
  let messageId: string;
  let told: Telling;
  let webhook: Awaited<ReturnType<typeof toldOf>>;
  beforeAll(async () => {
    await storeTemplate(world, 'welcome', { text: 'x' });
    const attachments = [{ filename: 'a.txt', content: 'SGVsbG8K' }];
    messageId = String((await world.post(key, { ...MAIL, attachments })).json['id']);
    told = telling(messageId);
    await world.stores.store.tell([told], TELL_RULES, { node: 'a', now: world.clock.wall() });
    webhook = await toldOf(world, key);
    const body = { address: 'ann@example.org' };
    await world.ask({ method: 'POST', path: '/api/v1/suppressions', key, body });
  });

  test('every path of the description is tried here', () => {
    expect(described.length).toBeGreaterThanOrEqual(9);
  });

  test.each(described)('OPTIONS of %s is 204 with Allow, without a key', async (path, operations) => {
    const { status, headers, text } = await world.ask({ method: 'OPTIONS', path: at(path) });
    expect([status, text]).toEqual([204, '']);
    const allowed = (headers.allow ?? '').split(', ').sort();
    const methods = Object.keys(operations).filter((name) =>
      ['get', 'post', 'put', 'patch', 'delete'].includes(name),
    );
    const expected = methods.flatMap((name) => (name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()]));
    expect(allowed).toEqual([...expected, 'OPTIONS'].sort());
  });

  test.each(described)('%s with another method is 405 with Allow', async (path, operations) => {
    const wrong = ['GET', 'POST', 'DELETE', 'PATCH'].filter((name) => !(name.toLowerCase() in operations));
    for (const method of wrong) {
      const { status, headers } = await world.ask({ method, path: at(path), key });
      expect([method, status, headers.allow?.includes('OPTIONS')]).toEqual([method, 405, true]);
      expect(headers.allow).not.toContain(method);
    }
  });

  const readable = described.filter(([, operations]) => 'get' in operations);
  test.each(readable)('HEAD of %s has the header of GET, and no body', async (path) => {
    // Captured mail is waited for, unless there is some.
    await attempt(world, CAPTURED);
    const steady = ({ headers }: { headers: Readonly<Record<string, unknown>> }) =>
      Object.entries(headers).filter(
        ([name]) => !/^(?:date|x-request-id|ratelimit.*|transfer-encoding)$/.test(name),
      );
    const [got, headed] = [
      await world.ask({ path: at(path), key }),
      await world.ask({ method: 'HEAD', path: at(path), key }),
    ];
    expect([got.status, headed.status, headed.text]).toEqual([200, 200, '']);
    expect(steady(headed)).toEqual(steady(got));
    if (got.headers['transfer-encoding'] === undefined)
      expect(Number(headed.headers['content-length'])).toBe(Buffer.byteLength(got.text));
  });

  test('HEAD of what is refused has the refusal’s header', async () => {
    const headed = await world.ask({ method: 'HEAD' });
    expect([headed.status, headed.text, headed.headers['www-authenticate']]).toEqual([401, '', 'Bearer']);
    expect(Number(headed.headers['content-length'])).toBeGreaterThan(100);
  });
});

test('a connection is kept, also behind refusals', async () => {
  const client = new RawClient(world.port);
  for (const [request, status] of [
    [get(''), 200],
    [get('').replace(TARGET, '/x'), 404],
    [post('Content-Length: 5\r\n', 'hello'), 400],
    [post('Content-Length: 5\r\n', 'hello').replace('application/json', 'text/html'), 415],
    [get('Connection: close\r\n'), 200],
  ] as const) {
    client.received = '';
    client.socket.write(request);
    expect(await client.until(/\}$/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
  await client.closed;
});
