/** Two machines with a cable between them and nobody else: networks of their own, which this machine's programs do not notice. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { locate } from '../peers/need.ts';

/** Where the server is, and the stranger. Addresses of documentation (RFC 5737), which nobody takes for private. */
const ADDRESSES = { server: '198.51.100.1', stranger: '198.51.100.2' } as const;

/** Whether this machine lets us make them. */
export function canMakeNeighbours(): boolean {
  if (!['ip', 'nsenter', 'unshare'].every((program) => locate(program) !== null)) return false;
  return spawnSync('unshare', ['-n', 'ip', 'link', 'add', 'one', 'type', 'veth']).status === 0;
}

/** See the file's comment. */
export interface Neighbours {
  /** The server's address. */
  readonly address: string;
  /** What goes before a command that is to run at the server, and at the stranger. */
  readonly server: readonly string[];
  readonly stranger: readonly string[];
  end(): void;
}

/** Makes them. Every port is free there. They end with this process at the latest. */
export async function createNeighbours(): Promise<Neighbours> {
  const [server, stranger] = [await createNetwork(), await createNetwork()];
  const [atServer, atStranger] = [under(server), under(stranger)];
  run([
    ...atServer,
    'ip',
    'link',
    'add',
    'eth0',
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    String(stranger.pid),
  ]);
  for (const [inside, address] of [
    [atServer, ADDRESSES.server],
    [atStranger, ADDRESSES.stranger],
  ] as const) {
    run([...inside, 'ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
    run([...inside, 'ip', 'link', 'set', 'eth0', 'up']);
  }
  return {
    address: ADDRESSES.server,
    server: atServer,
    stranger: atStranger,
    end: () => {
      for (const network of [server, stranger]) network.kill('SIGKILL');
    },
  };
}

/** A process that holds a network, until its standard input ends. */
async function createNetwork(): Promise<ChildProcess> {
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up && echo up && exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
  if (String(said).trim() !== 'up') throw new Error(`the network could not be made: ${said}`);
  return holder;
}

function under({ pid }: ChildProcess): readonly string[] {
  return ['nsenter', '-t', String(pid), '-n', '--'];
}

function run([program = '', ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
}
