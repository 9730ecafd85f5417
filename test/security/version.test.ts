/** What strangers are told of the program: not its version, outside of `/health` and `/metrics` (specification, contract §7). */
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { installed } from '../e2e/service.ts';
import { packageJson } from '../support/package.ts';

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"] }
`;
const HTTP = ['/', '/api/v1/openapi.json', '/api/v1/ready', '/api/v1/messages', '/health', '/nothing'];
const DASHBOARD = ['/', '/api/session', '/api/v1/openapi.json', '/nothing', '/livez', '/assets/'];

/** All that a server says to these lines and until it closes. */
function said(port: number, tls: boolean, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const at = { port, host: '127.0.0.1' };
  const socket = tls ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
  let heard = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    // SMTP speaks first; HTTP waits for the request.
    if (heard === '' && chunk.startsWith('220 ')) socket.write(text);
    heard += chunk;
  });
  socket.on('error', reject).on('close', () => resolve(heard));
  if (text.startsWith('GET ')) socket.write(text);
  return promise;
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
}

test('nothing that strangers are answered tells the version', async (context) => {
  const server = await installed(context, CONFIGURATION).start();
  const { api, webui, smtp } = server.runtime;
  const answers = await Promise.all([
    said(smtp[0] ?? 0, false, 'EHLO me\r\nHELP\r\nVRFY x\r\nQUIT\r\n'),
    ...HTTP.map((path) => said(api ?? 0, false, get(path))),
    ...DASHBOARD.map((path) => said(webui ?? 0, true, get(path))),
  ]);
  const { version } = packageJson();
  // A version may stand within an address, as in 127.0.1.0.
  const told = new RegExp(`.{0,40}(?<![\\d.])${version.replaceAll('.', '\\.')}(?![\\d.])`);
  expect(answers.flatMap((answer) => told.exec(answer) ?? [])).toEqual([]);
  expect(answers.every((answer) => answer.length > 0)).toBe(true);
  expect(await said(webui ?? 0, true, get('/health'))).toMatch(told);
});
