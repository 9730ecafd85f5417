import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { portOwner } from './machine.ts';

const LISTENS = `const server = require('net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port))`;

test('who has a port is told by the name of its program, not of a thread in it', async (context) => {
  const child = spawn(process.execPath, ['-e', LISTENS], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.onTestFinished(() => void child.kill());
  const [port] = await once(child.stdout, 'data');
  expect(await portOwner(Number(String(port)))).toBe(`node (process ${child.pid})`);
});
