import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/peers/free-port.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import type { Poster, SystemOptions } from './system.ts';
import { untilListening } from './wait.ts';

const PROGRAM = fileURLToPath(new URL('./bare-http-server.ts', import.meta.url));

/** Starts the bare `node:http` server. */
export async function startBareHttp({ directory }: SystemOptions): Promise<Poster> {
  const port = await freePort();
  const command = [process.execPath, PROGRAM, String(port)];
  const child = await startChild(command, { log: path.join(directory, 'bare-http.log') });
  await untilListening(port);
  return {
    httpPort: port,
    paths: { json: '/', multipart: '/' },
    key: 'none',
    usage: () => usageOf(child.pid),
    flushes: () => Number.NaN,
    stop: () => child.kill(),
  };
}
