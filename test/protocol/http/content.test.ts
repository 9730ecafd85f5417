import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SpoolContent, SpoolError } from '../../../src/spool/spool.ts';
import { attempt, DELIVERED, dropContents } from './deliver.ts';
import { MAIL, World } from './world.ts';

/** `GET /api/v1/messages/{id}/content` (contract §3.1). */

const MIB = 1024 * 1024;

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ scopes: ['messages:send', 'messages:content'] });
});
afterEach(() => world.close());

async function submit(): Promise<{ readonly id: string; readonly path: string }> {
  const id = String((await world.post(key, MAIL)).json['id']);
  return { id, path: `/api/v1/messages/${id}/content` };
}

test('is the message as it is sent, to be saved as a file', async () => {
  const { id, path } = await submit();
  const answer = await world.ask({ key, path });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'message/rfc822',
    'content-disposition': `attachment; filename="${id}.eml"`,
    'content-length': String(world.last.content.sizeBytes),
    'x-content-type-options': 'nosniff',
  });
  expect(answer.text).toBe(world.lastText);
  const head = await world.ask({ method: 'HEAD', key, path });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([
    200,
    '',
    answer.headers['content-length'],
  ]);
});

describe('who may read it:', () => {
  test('who has messages:content and may see the message', async () => {
    const { path } = await submit();
    const answers = [];
    for (const scopes of [
      ['messages:read'],
      ['messages:read_all'],
      ['messages:content'],
      ['messages:content', 'messages:read_all'],
    ] as const) {
      const { status, json } = await world.ask({ key: await world.key({ scopes }), path });
      answers.push([status, json['code']]);
    }
    expect(answers).toEqual([
      [403, 'scope_missing'],
      [403, 'scope_missing'],
      [404, 'message_not_found'],
      [200, undefined],
    ]);
  });
});

test('that retention has removed is 404 content_expired', async () => {
  const { path } = await submit();
  await attempt(world, DELIVERED);
  await dropContents(world);
  const answer = await world.ask({ key, path });
  expect([answer.status, answer.json['code']]).toEqual([404, 'content_expired']);
});

test('parameters are 400 by name', async () => {
  const answer = await world.ask({ key, path: `${(await submit()).path}?raw=1` });
  expect(answer.json.errors).toMatchObject([{ pointer: '/raw', code: 'unknown_parameter' }]);
});

describe('a large one', () => {
  const PIECES = 8;

  /** Lets the spool give these pieces of 1 MiB, then fail if told to. */
  function giving(failure: SpoolError | null): void {
    const content: SpoolContent = {
      sizeBytes: PIECES * MIB,
      async *chunks() {
        for (let place = 0; place < PIECES; place++) yield Buffer.alloc(MIB, 97 + place);
        if (failure !== null) throw failure;
      },
    };
    world.intake.read = async () => content;
  }

  test('is streamed', async () => {
    const { path } = await submit();
    giving(null);
    const { status, text } = await world.ask({ key, path });
    expect([status, text.length, text[0], text.at(-1)]).toEqual([200, PIECES * MIB, 'a', 'h']);
  });
  test('that turns out to be damaged never arrives whole, and is logged', async () => {
    const { path } = await submit();
    giving(new SpoolError('content_damaged', 'not what was written'));
    await expect(world.ask({ key, path })).rejects.toThrow();
    expect(world.logged).toEqual(['http.handler_failed']);
  });
});

test('that is damaged and small is a 500, logged', async () => {
  const { path } = await submit();
  world.intake.read = () => Promise.reject(new SpoolError('content_damaged', 'not what was written'));
  const answer = await world.ask({ key, path });
  expect([answer.status, answer.json['code'], world.logged]).toEqual([
    500,
    'internal_error',
    ['http.handler_failed'],
  ]);
});

test.each([
  ['content_missing', 404, 'content_expired'],
  ['spool_closed', 503, 'store_unavailable'],
  ['spool_unavailable', 503, 'store_unavailable'],
  ['spool_failed', 503, 'store_unavailable'],
] as const)('when the spool says %s: %i', async (code, status, told) => {
  const { path } = await submit();
  world.intake.read = () => Promise.reject(new SpoolError(code, 'asked to fail'));
  const answer = await world.ask({ key, path });
  expect([answer.status, answer.json['code'], world.logged]).toEqual([status, told, []]);
});
