/** The first administrator of the real server: by its link, by the environment, and by the command line. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunningServer } from '../peers/server.ts';
import { installed } from './service.ts';

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
`;
const PASSWORD = 'correct horse battery';

/** Posts a call of the session to a server, by a name for it; status and answer. */
function post(
  server: RunningServer,
  name: string,
  body: object,
  as = 'localhost',
): Promise<{ status: number; body: unknown }> {
  const port = server.runtime.webui ?? 0;
  const host = `${as}:${port}`;
  const headers = { host, origin: `https://${host}`, 'content-type': 'application/json' };
  const options = {
    host: '127.0.0.1',
    port,
    path: `/api/session/${name}`,
    method: 'POST',
    agent: false,
    headers,
  };
  return new Promise((resolve, reject) => {
    // Whose certificate it is does not matter here: it made it itself.
    const asked = request({ ...options, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) }),
      );
    });
    asked.on('error', reject).end(JSON.stringify(body));
  });
}

/** What a server printed for people, once it is all there. */
async function bannerOf(server: RunningServer): Promise<string> {
  await server.printed(/ {2}Data {12}/);
  return server.output;
}

/** The token of the link that a server printed, or a command. */
function tokenIn(text: string): string {
  return /\/setup#([A-Za-z0-9_-]{43})/.exec(text)?.[1] ?? '';
}

describe('signing in', () => {
  test('the start prints a link, which claims the dashboard and is not printed again', async (context) => {
    const installation = installed(context, CONFIGURATION);
    const server = await installation.start();
    const token = tokenIn(await bannerOf(server));
    const chosen = { token, name: 'ann', password: PASSWORD };
    expect(await post(server, 'setup', chosen, 'waybill.test')).toMatchObject({
      status: 200,
      body: { state: 'signed_in', user: { name: 'ann', role: 'admin' } },
    });
    expect(await post(server, 'setup', chosen)).toMatchObject({ status: 403 });
    // What is printed is for whoever started it; what is logged goes elsewhere, too.
    await server.printed(/sign_in\.changed/);
    const logged = server.output.split('\n').filter((line) => line.startsWith('{'));
    expect(logged.join()).not.toContain(token);
    await server.end('SIGTERM');
    const next = await installation.start();
    expect(await bannerOf(next)).toMatch(/Dashboard +https:\/\/localhost:\d+\/$/m);
    expect(tokenIn(next.output)).toBe('');
    const login = { name: 'ann', password: PASSWORD };
    expect(await post(next, 'login', login)).toMatchObject({ status: 200 });
    // The name it was claimed by is one of ours from then on; no other is.
    expect(await post(next, 'login', login, 'waybill.test')).toMatchObject({ status: 200 });
    expect(await post(next, 'login', login, 'other.test')).toMatchObject({ status: 421 });
  });

  test('another start, and admin setup-link, put another link in the place of the last', async (context) => {
    const installation = installed(context, CONFIGURATION);
    const server = await installation.start();
    const { stdout, code } = await installation.run('admin', 'setup-link');
    expect(code).toBe(0);
    expect(stdout).toContain(`https://localhost:${server.runtime.webui}/setup#`);
    expect(await post(server, 'link', { token: tokenIn(await bannerOf(server)) })).toMatchObject({
      status: 403,
    });
    expect(await post(server, 'link', { token: tokenIn(stdout) })).toMatchObject({ status: 200 });
  });

  test('WAYBILL_ADMIN_PASSWORD_FILE sets the first password, and no later one', async (context) => {
    const installation = installed(context, CONFIGURATION);
    const file = join(installation.dataDir, 'password');
    writeFileSync(file, `${PASSWORD}\n`);
    installation.environment['WAYBILL_ADMIN_PASSWORD_FILE'] = file;
    const server = await installation.start();
    expect(tokenIn(await bannerOf(server))).toBe('');
    expect(await post(server, 'login', { name: 'admin', password: PASSWORD })).toMatchObject({ status: 200 });
    await server.end('SIGTERM');
    // Unfit, but nobody asks for it any more.
    writeFileSync(file, 'short\n');
    const next = await installation.start();
    expect(await post(next, 'login', { name: 'admin', password: PASSWORD })).toMatchObject({ status: 200 });
  });

  test('an unfit WAYBILL_ADMIN_PASSWORD stops the start, and is not shown', async (context) => {
    const installation = installed(context, CONFIGURATION);
    installation.environment['WAYBILL_ADMIN_PASSWORD'] = 'eleven char';
    const { code, stdout, stderr } = await installation.run('serve');
    expect([code, stderr]).toEqual([
      1,
      'WAYBILL_ADMIN_PASSWORD: must have at least 12 characters (environment)\n',
    ]);
    expect(stdout).not.toContain('eleven char');
  });

  test('admin reset-password --stdin works while the server runs, and ends the sessions of before', async (context) => {
    const installation = installed(context, CONFIGURATION);
    const server = await installation.start();
    for (const password of [PASSWORD, `${PASSWORD}!`]) {
      const command = installation.spawn('admin', 'reset-password', '--stdin');
      command.stdin.end(`${password}\n`);
      expect(await new Promise((resolve) => command.once('close', resolve))).toBe(0);
    }
    expect(await post(server, 'login', { name: 'admin', password: PASSWORD })).toMatchObject({ status: 401 });
    expect(await post(server, 'login', { name: 'admin', password: `${PASSWORD}!` })).toMatchObject({
      status: 200,
    });
  });
});
