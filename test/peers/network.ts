/** A network of its own: every port is free in it, the well-known ones too, and nobody else's tests are in the way. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { locate } from './need.ts';

const run = promisify(execFile);

/** Whether this machine lets us make one, and has the programs to do so. */
export const CAN_MAKE_NETWORKS =
  ['nsenter', 'setpriv', 'curl'].every((program) => locate(program) !== null) &&
  spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

/** Brings up the loopback, then occupies the ports of the arguments until it is killed. */
const HOLDER = `
const { createServer } = require('node:net');
const { spawnSync } = require('node:child_process');
if (spawnSync('ip', ['link', 'set', 'lo', 'up']).status !== 0) process.exit(1);
const ports = process.argv.slice(1).map(Number);
Promise.all(ports.map((port) => new Promise((done, failed) =>
  createServer((socket) => socket.destroy()).on('error', failed).listen(port, '127.0.0.1', done),
))).then(() => console.log('up'));
setInterval(() => {}, 1e9);
`;

/** One, until its `end`. */
export interface Network {
  /** What goes before a command that is to run in it. */
  readonly under: readonly string[];
  /** What `https://localhost:<port><path>` answers in it, whatever its certificate. */
  ask(port: number, path: string): Promise<string>;
  end(): void;
}

/** Makes one in which another program occupies these ports on 127.0.0.1. */
export async function createNetwork(occupied: readonly number[] = []): Promise<Network> {
  const command = ['-n', process.execPath, '-e', HOLDER, '--', ...occupied.map(String)];
  const holder = spawn('unshare', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
  if (String(said).trim() !== 'up') throw new Error(`the network could not be made: ${said}`);
  const under = ['nsenter', '-t', String(holder.pid), '-n', '--'];
  const [program = '', ...rest] = under;
  return {
    under,
    ask: async (port, path) =>
      (await run(program, [...rest, 'curl', '-sS', '-k', `https://127.0.0.1:${port}${path}`])).stdout,
    end: () => void holder.kill('SIGKILL'),
  };
}
