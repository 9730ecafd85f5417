/** Nodes with networks of their own, each with one cable to a switch, from which single hosts can be cut off without a word. */
import { spawnSync } from 'node:child_process';
import { locate } from './need.ts';

/** Last numbers of the addresses of what stands beside the nodes, and of the first node's. */
const HOSTS = { database: 1, upstream: 2 } as const;
const FIRST_NODE = 11;
/** And of whoever asks the nodes: not cut off with a host. */
const ASKING = 254;
const PROGRAM = locate('ip') ?? '';
/** Where nobody is: what is sent there is lost. */
const NOBODY = '02:00:00:00:00:01';

/** A host beside the nodes. */
export type Host = keyof typeof HOSTS;

/** Whether this machine lets us make them. */
export function canMakeSwitches(): boolean {
  if (PROGRAM === '') return false;
  const probe = `waybill${process.pid}p`.slice(-12);
  const made = spawnSync(PROGRAM, ['link', 'add', probe, 'type', 'bridge']).status === 0;
  if (made) spawnSync(PROGRAM, ['link', 'del', probe]);
  return made && spawnSync('unshare', ['-n', 'true']).status === 0;
}

/** A switch, to which this process is connected as every {@link Host}. Those of one process are told apart. */
export class Switch {
  static #made = 0;
  readonly #number = Switch.#made++;
  readonly #name = `wb${process.pid}s${this.#number}`;
  readonly #nodes: string[] = [];

  constructor() {
    ip('link', 'add', this.#name, 'type', 'bridge');
    ip('link', 'set', this.#name, 'up');
    // The first is where connections come from that we make.
    for (const last of [ASKING, HOSTS.database, HOSTS.upstream])
      ip('addr', 'add', `${this.#addressOf(last)}/24`, 'dev', this.#name);
  }

  /** The address of a host. */
  address(host: Host): string {
    return this.#addressOf(HOSTS[host]);
  }

  #addressOf(last: number): string {
    return `10.77.${this.#number}.${last}`;
  }

  /** Connects another node. */
  connect(): Cable {
    const number = this.#nodes.length;
    const space = `${this.#name}n${number}`;
    const [inner, outer] = ['eth0', `${this.#name}v${number}`];
    const address = this.#addressOf(FIRST_NODE + number);
    this.#nodes.push(space);
    ip('netns', 'add', space);
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', space);
    ip('link', 'set', outer, 'master', this.#name, 'up');
    ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', inner);
    for (const link of ['lo', inner]) ip('-n', space, 'link', 'set', link, 'up');
    return new Cable(space, address, (host) => this.address(host));
  }

  /** Takes it away, with all nodes' networks. */
  remove(): void {
    for (const space of this.#nodes) ip('netns', 'del', space);
    ip('link', 'del', this.#name);
  }
}

/** A node's connection. */
export class Cable {
  readonly #space: string;
  readonly #addressOf: (host: Host) => string;
  /** The node's address. */
  readonly address: string;
  /** What goes before a command that is to run there. */
  readonly under: readonly string[];

  constructor(space: string, address: string, addressOf: (host: Host) => string) {
    this.#space = space;
    this.#addressOf = addressOf;
    this.address = address;
    this.under = ['ip', 'netns', 'exec', space];
  }

  /** Loses all that is sent to a host from now on. Nobody is told. */
  cut(host: Host): void {
    const lost = ['lladdr', NOBODY, 'dev', 'eth0', 'nud', 'permanent'];
    ip('-n', this.#space, 'neigh', 'replace', this.#addressOf(host), ...lost);
  }

  /** Carries it again. */
  mend(host: Host): void {
    ip('-n', this.#space, 'neigh', 'del', this.#addressOf(host), 'dev', 'eth0');
  }
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(PROGRAM, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
