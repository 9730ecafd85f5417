import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What listens for so many connections and accepts none. */
const BACKLOG = 1;
const LISTEN = `
const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} }, () => {
  require('node:fs').writeSync(1, server.address().port + '\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** A port that answers nothing at all, not even with a refusal, as behind a firewall that drops packets. */
export interface BlackHole {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a process that listens, and fills its queue: what connects from now on waits without end. */
export async function startBlackHole(): Promise<BlackHole> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = await once(child.stdout, 'data');
  const port = Number(String(line));
  const fillers: Socket[] = [];
  // The kernel takes one more than the backlog says.
  for (let place = 0; place <= BACKLOG; place++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    fillers.push(socket);
  }
  return {
    port,
    close: async () => {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
