import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { expect, test } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { portOwner, realMachine } from './machine.ts';

const LISTENS = `const server = require('net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port))`;

test('who has a port is told by the name of its program, not of a thread in it', async (context) => {
  const child = spawn(process.execPath, ['-e', LISTENS], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.onTestFinished(() => void child.kill());
  const [port] = await once(child.stdout, 'data');
  expect(await portOwner(Number(String(port)))).toBe(`node (process ${child.pid})`);
});

test('a URL is asked for once, and a redirect is not followed', async () => {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { knock } = realMachine(systemClock);
  const { signal } = new AbortController();
  expect(await knock(`http://127.0.0.1:${port}/hooks/doctor/0`, signal)).toBe(302);
  expect(asked).toEqual(['GET /hooks/doctor/0']);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await knock(`http://127.0.0.1:${port}/`, signal)).toContain('ECONNREFUSED');
  expect(await knock('http://127.0.0.1:1/', AbortSignal.abort())).toMatch(/abort/i);
});
