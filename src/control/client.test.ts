import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createControlClient, isServerRunning } from './client.ts';
import { socketFile } from './socket.ts';

/** A data directory whose server takes connections and says this, and nothing more. */
async function stuckServer(says: string): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waybill-control-'));
  const server = createServer((socket) => socket.on('error', () => undefined).write(says));
  await new Promise<void>((resolve) => server.listen(socketFile(dataDir), resolve));
  onTestFinished(() => {
    server.close();
    rmSync(dataDir, { recursive: true });
  });
  return dataDir;
}

test.each([
  ['nothing', ''],
  ['the beginning of an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'],
])('a server that says %s is given up, and the text says what to do', async (_, says) => {
  const dataDir = await stuckServer(says);
  const refused = { code: 'unavailable', message: expect.stringMatching(/did not answer for 0\.05 s.*log/) };
  await expect(isServerRunning(dataDir, 50)).rejects.toMatchObject(refused);
  await expect(createControlClient(dataDir, 50).listKeys({})).rejects.toMatchObject(refused);
});

test('where no server listens, that is the answer', async () => {
  expect(await isServerRunning(mkdtempSync(join(tmpdir(), 'waybill-control-')))).toBe(false);
});
