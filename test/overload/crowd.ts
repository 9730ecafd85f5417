/** Many clients who do the same wrong thing. */
import { connect, type Socket } from 'node:net';

/** How many connect at once. */
const AT_ONCE = 50;
/** So many of them share an address, fewer than `listener.max_connections_per_source` lets in. */
const PER_SOURCE = 400;

/** One of them: a connection over which bytes go by hand. Of what comes only the end is kept. */
class Rogue {
  readonly socket: Socket;
  /** The last that came, a few hundred characters. */
  heard = '';
  /** Resolves when the connection has ended, however it did, to what was heard last. */
  readonly closed: Promise<string>;
  over = false;
  #notify = () => {};

  constructor(port: number, from: string) {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from });
    this.socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        this.heard = (this.heard + chunk.toString('latin1')).slice(-HEARD);
        this.#notify();
      });
    this.closed = new Promise((resolve) =>
      this.socket.once('close', () => {
        this.over = true;
        this.#notify();
        resolve(this.heard);
      }),
    );
  }

  /** Writes text, unless the connection has ended; resolves when what was heard ends so. Rejects when it ends before. */
  async say(text: string, expected: RegExp): Promise<void> {
    this.heard = '';
    this.socket.write(text, 'latin1');
    await new Promise<void>((resolve, reject) => {
      this.#notify = () => {
        if (expected.test(this.heard)) resolve();
        else if (this.over)
          reject(new Error(`ended before ${expected}, after ${JSON.stringify(this.heard)}`));
      };
      this.#notify();
    });
    this.#notify = () => {};
  }
}

const HEARD = 2000;

/** See the top of the file. */
export class Crowd {
  readonly members: readonly Rogue[];

  private constructor(members: readonly Rogue[]) {
    this.members = members;
  }

  /** Connects them to a port, from 127.0.`net`.1 and on, and lets each begin. */
  static async gather(
    count: number,
    { port, net, sources }: { readonly port: number; readonly net: number; readonly sources?: number },
    begin: (rogue: Rogue, place: number) => Promise<void> | void,
  ): Promise<Crowd> {
    const perSource = sources === undefined ? PER_SOURCE : Math.ceil(count / sources);
    const members: Rogue[] = [];
    let next = 0;
    const bring = async () => {
      while (next < count) {
        const place = next++;
        const rogue = new Rogue(port, `127.0.${net}.${1 + Math.floor(place / perSource)}`);
        members.push(rogue);
        await begin(rogue, place);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, bring));
    return new Crowd(members);
  }

  /** Those whose connections are open. */
  get open(): number {
    return this.members.filter(({ over }) => !over).length;
  }

  /** Everyone writes a little more. */
  drip(text: string): void {
    for (const { socket, over } of this.members) if (!over) socket.write(text, 'latin1');
  }

  /** Resolves when the server has ended all of them, to what each heard last. */
  ended(): Promise<string[]> {
    return Promise.all(this.members.map(({ closed }) => closed));
  }

  /** All go: half of them without a word, the others by a reset. */
  async leave(): Promise<void> {
    for (const [place, { socket }] of this.members.entries())
      if (place % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    await this.ended();
  }
}
