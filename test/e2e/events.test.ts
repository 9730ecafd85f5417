/** Events of the real program, read by others while it works, stops and starts again. */
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Installation, type RunningServer } from '../peers/server.ts';
import { Client, createKey } from './service.ts';

const THREADS = 3;
/** Enough that no thread is left out. */
const READERS = 24;
const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
threads: { ingest: ${THREADS} }
`;
const LETTER = { from: 'a@example.com', to: ['ann@example.net'], subject: 'Hello', text: 'Hi.' };

let installation: Installation;
let server: RunningServer;
let key: string;

beforeAll(async () => {
  installation = new Installation(CONFIGURATION);
  server = await installation.start();
  const scopes = ['messages:send', 'messages:read', 'events:read'].flatMap((name) => ['--scope', name]);
  key = await createKey(installation, 'follower', ...scopes, '--rate', '0');
});
afterAll(async () => {
  await server.end('SIGKILL');
  installation.remove();
});

const send = () => new Client(server, key).send(LETTER);

interface Told {
  readonly type: string;
  readonly data: { readonly sequence: number; readonly message: { readonly id: string } };
}

interface Page {
  readonly events: readonly Told[];
  readonly nextAfter: number;
}

/** Asks for events over a connection of its own, which any of the threads may have taken. */
const ask = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.api}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${key}`, connection: 'close', ...headers },
  });

async function page(query: string): Promise<Page> {
  return (await (await ask(query)).json()) as Page;
}

/** Where the log ends now. */
const newest = async () => (await page('?limit=1')).nextAfter;

/** The lines `id:` of a stream, as they come. */
async function* idsOf(response: Response): AsyncGenerator<number> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('id: ')) yield Number(line.slice(4));
  }
}

test('readers at every thread are told of what happens, whichever thread took the mail', async () => {
  const after = await newest();
  const stream = { accept: 'text/event-stream' };
  const streams = await Promise.all(Array.from({ length: READERS }, () => ask(`?after=${after}`, stream)));
  const waiting = Array.from({ length: READERS }, () =>
    page(`?after=${after}&wait=60&types=message.captured`),
  );
  const id = await send();
  for (const { events } of await Promise.all(waiting))
    expect(events.map(({ type, data }) => [type, data.message.id])).toEqual([['message.captured', id]]);
  const told = (await page(`?after=${after}`)).events.map(({ data }) => data.sequence);
  expect(told).toHaveLength(2);
  for (const response of streams) {
    const seen: number[] = [];
    for await (const sequence of idsOf(response)) if (seen.push(sequence) === told.length) break;
    expect(seen).toEqual(told);
  }
});

test('a follower on the command line misses nothing, over a restart of the server as well', async () => {
  const follower = installation.spawn('events', '--follow', '--json', '--types', 'message.queued');
  const seen: string[] = [];
  createInterface({ input: follower.stdout }).on('line', (line) => {
    seen.push((JSON.parse(line) as Told).data.message.id);
  });
  const errors: Buffer[] = [];
  follower.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const sees = (id: string) => expect.poll(() => seen, { timeout: 30_000 }).toContain(id);
  const first = await send();
  await sees(first);
  const from = seen.indexOf(first);
  const sent = [first, await send()];
  expect(await server.end('SIGTERM')).toBe(0);
  server = await installation.start();
  sent.push(await send(), await send());
  await sees(sent.at(-1) ?? '');
  expect(seen.slice(from)).toEqual(sent);
  const ended = new Promise((resolve) => void follower.once('exit', resolve));
  follower.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(Buffer.concat(errors).toString()).toMatch(/^(?:The server does not answer; waiting for it\.\n)?$/);
});

test('a follower ends when whoever reads it has seen enough', async () => {
  await send();
  const follower = installation.spawn('events', '--follow');
  const ended = new Promise((resolve) => void follower.once('exit', resolve));
  await new Promise((resolve) => void follower.stdout.once('data', resolve));
  follower.stdout.destroy();
  await send();
  expect(await ended).toBe(0);
});

test('when the server stops, streams at every thread end whole, and hold up no end', async () => {
  const after = await newest();
  const streams = await Promise.all(
    Array.from({ length: READERS }, () => ask(`?after=${after}`, { accept: 'text/event-stream' })),
  );
  const ends = Promise.all(streams.map((response) => response.text()));
  expect(await server.end('SIGTERM')).toBe(0);
  expect(await ends).toEqual(Array(READERS).fill('retry: 2000\n\n'));
  server = await installation.start();
});
