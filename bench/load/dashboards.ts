import { Agent, request } from 'node:https';
import { parseArgs } from 'node:util';

/**
 * Open dashboards, as the page is one: each holds a stream of hints, and asks for the overview and the newest messages when
 * there was a hint, at most every so often as the page does while hints never end. A process of its own; prints `open` when
 * all streams are, and goes on until it is killed.
 */

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '' },
    count: { type: 'string', default: '50' },
    name: { type: 'string', default: '' },
    password: { type: 'string', default: '' },
  },
});

/** As `web/src/live-pace.ts`, once hints have gone on for a while. */
const PACE_MS = 8_000;
/** Streams of one session. */
const STREAMS = 8;

const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });
const base = { host: '127.0.0.1', port: Number(values.port), agent };
const origin = `https://127.0.0.1:${values.port}`;

interface Reply {
  readonly status: number;
  readonly cookie: string;
}

function post(path: string, body: object, cookie = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', Origin: origin, Cookie: cookie };
    const asked = request({ ...base, path, method: 'POST', headers }, (response) => {
      response.resume().on('end', () => {
        const [set = ''] = response.headers['set-cookie'] ?? [];
        resolve({ status: response.statusCode ?? 0, cookie: set.split(';', 1)[0] ?? '' });
      });
    });
    asked.on('error', reject).end(JSON.stringify(body));
  });
}

function openStream(cookie: string): Promise<void> {
  let last = 0;
  const look = () => {
    const now = performance.now();
    if (now - last < PACE_MS) return;
    last = now;
    for (const [operation, body] of [
      ['overview', {}],
      ['search', { query: '', limit: 50, before: null }],
    ] as const)
      post(`/api/call/${operation}`, body, cookie).catch(fail);
  };
  return new Promise((resolve, reject) => {
    const stream = request({
      ...base,
      agent: false,
      rejectUnauthorized: false,
      path: '/api/events',
      headers: { Cookie: cookie },
    });
    stream.on('error', reject).on('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`the stream was answered ${response.statusCode}`));
      response.on('data', look).on('end', () => fail(new Error('a stream ended')));
      resolve();
    });
    stream.end();
  });
}

function fail(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}

const count = Number(values.count);
for (let opened = 0; opened < count; ) {
  const { status, cookie } = await post('/api/session/login', {
    name: values.name,
    password: values.password,
  });
  if (status !== 200) throw new Error(`signing in was answered ${status}`);
  for (let stream = 0; stream < STREAMS && opened < count; stream++, opened++) await openStream(cookie);
}
process.stdout.write('open\n');
