/**
 * Prints the files that one submission passes through, from the first byte to the answer, over HTTP and over SMTP:
 * `npm run walk`. The real server runs with a note at the start of every function of `src`, and is warm. Only what the
 * main thread does is seen; what it does beside the submission is seen too, so repeat it if a line looks out of place.
 */
import { writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { connect } from 'node:net';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const ROOT = join(import.meta.dirname, '..');
/** Where each way begins. */
const FIRST: Readonly<Record<string, string>> = {
  HTTP: 'src/http/server.ts',
  SMTP: 'src/ingest/smtp/listener.ts',
};
/** Rooms that every other one asks for small things, and the wiring: they are no part of the way. */
const BESIDE = /^src\/(?:lib|domain|app|config)\b|^src\/control\/in-force/;
const WARM_UP = 20;
/** After so many ms nothing is left to be done for those before. */
const QUIET_MS = 500;
const quiet = () => new Promise((resolve) => setTimeout(resolve, QUIET_MS));
const TRACE = process.env['WAYBILL_WALK'];

if (TRACE !== undefined && isMainThread) await traceThisProcess(TRACE);
if (TRACE === undefined) await walkBoth();

/** Has every function note its file; SIGUSR2 begins a walk, the next one writes it to `file`. */
async function traceThisProcess(file: string): Promise<void> {
  const { parseAst } = await import('vitest/node');
  const { isNode, nodesOf } = await import('./source-tree.ts');
  let walk: string[] | null = null;
  Reflect.set(globalThis, 'walked', (path: string) => {
    if (walk !== null && walk.at(-1) !== path) walk.push(path);
  });
  process.on('SIGUSR2', () => {
    // Empty: it has begun.
    writeFileSync(file, JSON.stringify(walk ?? []));
    walk = walk === null ? [] : null;
  });
  const note = (text: string, path: string) => {
    const call = `walked(${JSON.stringify(path)})`;
    const notes = nodesOf(parseAst(text, { lang: 'ts' })).flatMap(({ type, body }): [number, string][] => {
      if (!/Function/.test(type) || !isNode(body)) return [];
      if (body.type === 'BlockStatement') return [[body.start + 1, `${call};`]];
      return [
        [body.start, `(${call},(`],
        [body.end, '))'],
      ];
    });
    let noted = text;
    for (const [at, what] of notes.toSorted(([a], [b]) => b - a))
      noted = noted.slice(0, at) + what + noted.slice(at);
    return noted;
  };
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const path = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : '';
      if (!path.startsWith('src/') || loaded.source === undefined || loaded.source === null) return loaded;
      return { ...loaded, source: note(String(loaded.source), path) };
    },
  });
}

async function walkBoth(): Promise<void> {
  const { Installation } = await import('../test/peers/server.ts');
  const { createKey } = await import('../test/e2e/service.ts');
  const installation = new Installation('{ api: { port: 0 }, webui: { port: 0 }, listener: { ports: [0] } }');
  const key = await createKey(installation, 'walk');
  const file = join(installation.dataDir, 'walk.json');
  installation.environment['WAYBILL_WALK'] = file;
  installation.environment['NODE_OPTIONS'] = `--import=${pathToFileURL(import.meta.filename).href}`;
  const server = await installation.start();
  const ways = { HTTP: () => overHttp(server.api, key), SMTP: () => overSmtp(server.runtime.smtp[0] ?? 0) };
  try {
    for (const [name, send] of Object.entries(ways)) {
      // The first ones open files, fill caches and claim a lane.
      for (let times = 0; times < WARM_UP; times++) await send();
      await quiet();
      const turn = async () => {
        await rm(file, { force: true });
        server.signal('SIGUSR2');
        return await untilWritten(file);
      };
      await turn();
      await send();
      const walk = await turn();
      print(name, walk);
    }
  } finally {
    await server.end('SIGTERM');
    installation.remove();
  }
}

async function untilWritten(file: string): Promise<string[]> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== '') return JSON.parse(text);
    await new Promise(setImmediate);
  }
}

function print(name: string, walked: readonly string[]): void {
  const begins = walked.indexOf(FIRST[name] ?? '');
  const walk = walked.slice(begins).filter((path) => !BESIDE.test(path));
  const stays = walk.filter((path, place) => path !== walk[place - 1]);
  const rooms = stays.map((path) => path.split('/').slice(1, -1).join('/'));
  const changes = rooms.filter((room, place) => room !== rooms[place - 1]).length;
  const lines = stays.map((path, place) => {
    const file = path.split('/').at(-1) ?? '';
    return rooms[place] === rooms[place - 1] ? ` ${file}` : `\n  ${(rooms[place] ?? '').padEnd(16)} ${file}`;
  });
  const sum = `${stays.length} stays in ${new Set(stays).size} files, ${changes} in a room`;
  process.stdout.write(`${name}: ${sum}${lines.join('')}\n\n`);
}

async function overHttp(api: string, key: string): Promise<void> {
  const body = JSON.stringify({
    from: 'a@example.com',
    to: ['b@example.org'],
    subject: 'One',
    text: 'A walk.',
  });
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${api}/api/v1/messages`, { method: 'POST', headers, body });
  if (answer.status !== 202) throw new Error(await answer.text());
  await answer.text();
}

async function overSmtp(port: number): Promise<void> {
  const lines = ['EHLO a.example', 'MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>', 'DATA'];
  const content = 'From: a@example.com\r\nSubject: One\r\n\r\nA walk.\r\n.';
  const socket = connect(port, '127.0.0.1');
  const waiting = [...lines, content, 'QUIT'];
  for await (const chunk of socket) {
    const reply = String(chunk);
    if (/^[45]/m.test(reply)) throw new Error(reply);
    if (/^\d{3} .*\r\n$/m.test(reply)) socket.write(`${waiting.shift() ?? ''}\r\n`);
    if (waiting.length === 0) return void socket.destroy();
  }
}
