/** What clients in use see of a refusal that comes while they are still sending (contract §1, §5). */
import { execFile, spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeIf, describeWith } from '../peers/need.ts';
import { startResettingProxy } from '../peers/resetting-proxy.ts';
import { type Service, startService } from './service.ts';

const run = promisify(execFile);
const UPLOAD = fileURLToPath(new URL('../peers/upload.py', import.meta.url));
/** More than sockets take before anybody reads, and than a message may have. */
const BYTES = 12_000_000;

interface Seen {
  readonly status: number;
  readonly text: string;
}

/** Posts {@link BYTES} bytes. */
type Post = (url: string, headers: Readonly<Record<string, string>>) => Promise<Seen>;

let service: Service;
let large: string;

beforeAll(async () => {
  service = await startService(
    'api: { port: 0, bind: ["127.0.0.1"], max_message_bytes: 4000000 }\nwebui: { port: null }\nlistener: { ports: [] }\n',
  );
  large = join(service.installation.dataDir, 'large');
  const file = openSync(large, 'w');
  ftruncateSync(file, BYTES);
  closeSync(file);
});
afterAll(() => service.stop());

/** Each kind of early refusal, as a path and what headers bring it about. */
const REFUSALS: readonly (readonly [number, string, string, Readonly<Record<string, string>>])[] = [
  [404, 'not_found', '/api/v1/message', {}],
  [401, 'unauthorized', '/api/v1/messages', { Authorization: 'Bearer wb_live_wrong' }],
  [415, 'unsupported_media_type', '/api/v1/messages', { 'Content-Type': 'text/plain' }],
  [413, 'content_too_large', '/api/v1/messages', { 'Content-Type': 'application/json' }],
];

/** The tests of one client, straight to the server and through a proxy that resets. */
function sees(post: Post): void {
  describe.each([
    ['directly', (port: number) => Promise.resolve(port)],
    ['behind a proxy that resets', startResettingProxy],
  ])('%s', (_, through) => {
    test.each(REFUSALS)('sees %i %s', async (status, code, path, headers) => {
      const { server, client } = service;
      const port = await through(server.runtime.api ?? 0);
      const all = { Authorization: `Bearer ${client.key}`, 'Content-Type': 'application/json', ...headers };
      const seen = await post(`http://127.0.0.1:${port}${path}`, all);
      expect(seen.status).toBe(status);
      expect(JSON.parse(seen.text)).toMatchObject({ status, code });
    });
  });
}

/** curl, with options before those that say what to send. */
function curl(...options: readonly string[]): Post {
  return async (url, headers) => {
    const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const args = ['-sS', '-w', '\n%{http_code}', ...options, '--data-binary', `@${large}`, ...fields, url];
    const [, text = '', status] = /^(.*)\n(\d+)$/s.exec((await run('curl', args)).stdout) ?? [];
    return { status: Number(status), text };
  };
}

function python(interpreter: string, library: 'http.client' | 'requests'): Post {
  return async (url, headers) => {
    const fields = Object.entries(headers).map(([name, value]) => `${name}:${value}`);
    const { stdout } = await run(interpreter, [UPLOAD, library, url, String(BYTES), ...fields]);
    return JSON.parse(stdout) as Seen;
  };
}

/** A Python that has the library; null where there is none. */
const withRequests =
  ['python3', '/usr/bin/python3'].find(
    (interpreter) => spawnSync(interpreter, ['-c', 'import requests']).status === 0,
  ) ?? null;

describeWith(['curl'], 'curl', () => sees(curl()));
describeWith(['curl'], 'curl that does not wait to be told', () => sees(curl('-H', 'Expect:')));
describe('fetch', () =>
  sees(async (url, headers) => {
    const response = await fetch(url, { method: 'POST', headers, body: Buffer.alloc(BYTES, 'x') });
    return { status: response.status, text: await response.text() };
  }));
describeWith(['python3'], 'http.client', () => sees(python('python3', 'http.client')));
describeIf(withRequests !== null, 'python3-requests', 'requests', () =>
  sees(python(withRequests ?? '', 'requests')),
);
