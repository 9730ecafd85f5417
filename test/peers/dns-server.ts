/** A recursive DNS server over UDP and TCP with a zone that tests write, and faults on demand. */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Endpoint } from '../../src/lib/network.ts';
import {
  cutOff,
  type DnsContent,
  type DnsQuery,
  framed,
  readQuery,
  writeResponse,
  type ZoneData,
  type ZoneRecord,
} from './dns-message.ts';

/** A question that came. */
export interface AskedQuestion extends DnsQuery {
  readonly transport: 'udp' | 'tcp';
  /** The asker's port. */
  readonly port: number;
}

/** What a fault has in its hands. */
export interface FaultyExchange {
  readonly query: DnsQuery;
  readonly transport: 'udp' | 'tcp';
  /** The answer as the zone has it; not cut off. */
  readonly truth: DnsContent;
  /** Bytes of a response; the length in front is added over TCP. */
  send(bytes: Buffer): void;
  /** Sends from another port than was asked (UDP). */
  sendFromElsewhere(bytes: Buffer): Promise<void>;
  /** Bytes as they are. */
  sendRaw(bytes: Buffer): void;
  /** Ends the connection (TCP). */
  close(): void;
}

/** What is done in the stead of answering. */
export type DnsFault = (exchange: FaultyExchange) => void | Promise<void>;

/** Where a fault applies, and how often. */
export interface FaultScope {
  readonly type?: keyof ZoneData;
  /** Default both. */
  readonly transport?: 'udp' | 'tcp';
  /** So many times, then the truth. Default always. */
  readonly times?: number;
}

/** One kind of record at one name. */
interface Entry {
  readonly ttl: number;
  readonly data: readonly unknown[];
}

const TTL = 300;
/** A resolver gives up on longer chains of aliases. */
const MAX_CHAIN = 20;

/** Starts one on a free port of 127.0.0.1, until the test ends. Every name it does not know does not exist. */
export async function startDnsServer(): Promise<DnsServer> {
  const server = new DnsServer();
  await server.start();
  onTestFinished(() => server.close());
  return server;
}

/** See {@link startDnsServer}. */
export class DnsServer {
  /** Every question that came, in order. */
  readonly asked: AskedQuestion[] = [];
  /** It says so (AD) of every answer to who asks whether it validated it. */
  authenticated = false;
  /** For how long it says that what is not there is not there. */
  negativeTtl = 60;
  readonly #zone = new Map<string, Map<string, Entry>>();
  readonly #faults: { name: string; fault: DnsFault; scope: FaultScope; left: number }[] = [];
  readonly #connections = new Set<Socket>();
  #udp: UdpSocket | null = null;
  #tcp: Server | null = null;
  #port = 0;
  #onAsked = () => {};

  /** Where it is asked. */
  get endpoint(): Endpoint {
    return { address: '127.0.0.1', port: this.#port };
  }

  /** Puts records at a name; none makes the name exist without records of that type. */
  set<T extends keyof ZoneData>(name: string, type: T, data: readonly ZoneData[T][], ttl = TTL): void {
    const types = this.#zone.get(name) ?? new Map<string, Entry>();
    this.#zone.set(name, types.set(type, { ttl, data }));
  }

  /** Takes a name away. */
  remove(name: string): void {
    this.#zone.delete(name);
  }

  /** Meets questions for a name with a fault; the fault set last counts. */
  fault(name: string, fault: DnsFault, scope: FaultScope = {}): void {
    this.#faults.unshift({ name, fault, scope, left: scope.times ?? Number.POSITIVE_INFINITY });
  }

  /** Resolves once `count` questions have come, since the beginning. */
  async untilAsked(count: number): Promise<void> {
    while (this.asked.length < count)
      await new Promise<void>((resolve) => {
        const before = this.#onAsked;
        this.#onAsked = () => {
          before();
          resolve();
        };
      });
  }

  /** Binds both; a port that is free for one and taken for the other is given up for another. */
  async start(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      const udp = createSocket('udp4');
      await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
      const { port } = udp.address();
      const tcp = createServer((socket) => this.#onConnection(socket));
      const isFree = await new Promise<boolean>((resolve) => {
        tcp.once('error', () => resolve(false));
        tcp.listen(port, '127.0.0.1', () => resolve(true));
      });
      if (!isFree) {
        udp.close();
        continue;
      }
      udp.on('message', (bytes, from) => this.#onDatagram(bytes, from));
      udp.on('error', () => {});
      [this.#udp, this.#tcp, this.#port] = [udp, tcp, port];
      return;
    }
    throw new Error('no port is free for both UDP and TCP');
  }

  /** Ends it; from then on its port refuses. */
  async close(): Promise<void> {
    const { [0]: udp, [1]: tcp } = [this.#udp, this.#tcp];
    [this.#udp, this.#tcp] = [null, null];
    for (const socket of this.#connections) socket.destroy();
    if (udp) await new Promise<void>((resolve) => udp.close(resolve));
    if (tcp) await new Promise((resolve) => tcp.close(resolve));
  }

  #onDatagram(bytes: Buffer, { port, address }: RemoteInfo): void {
    const send = (answer: Buffer) => void this.#udp?.send(answer, port, address);
    this.#answer(bytes, port, {
      transport: 'udp',
      send,
      sendRaw: send,
      sendFromElsewhere: async (answer) => {
        const other = createSocket('udp4');
        await new Promise((resolve) => other.send(answer, port, address, resolve));
        other.close();
      },
      close: () => {},
    });
  }

  #onConnection(socket: Socket): void {
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => {});
    let input = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      input = Buffer.concat([input, chunk]);
      while (input.length >= 2 && input.length >= 2 + input.readUInt16BE(0)) {
        const end = 2 + input.readUInt16BE(0);
        const message = input.subarray(2, end);
        input = input.subarray(end);
        this.#answer(message, socket.remotePort ?? 0, {
          transport: 'tcp',
          send: (answer) => void socket.write(framed(answer)),
          sendRaw: (answer) => void socket.write(answer),
          sendFromElsewhere: async () => {},
          close: () => void socket.destroy(),
        });
      }
    });
  }

  #answer(bytes: Buffer, port: number, way: Omit<FaultyExchange, 'query' | 'truth'>): void {
    const query = readQuery(bytes);
    this.asked.push({ ...query, transport: way.transport, port });
    const noteAsked = this.#onAsked;
    this.#onAsked = () => {};
    noteAsked();
    const truth = this.#truth(query);
    const fault = this.#takeFault(query, way.transport);
    if (fault) return void fault({ ...way, query, truth });
    const whole = writeResponse(query, truth);
    const fits = way.transport === 'tcp' || whole.length <= (query.edns ? 1232 : 512);
    way.send(fits ? whole : writeResponse(query, cutOff(truth)));
  }

  #takeFault(query: DnsQuery, transport: 'udp' | 'tcp'): DnsFault | null {
    const found = this.#faults.find(
      ({ name, scope, left }) =>
        left > 0 &&
        name === query.name.toLowerCase() &&
        (scope.type ?? query.type) === query.type &&
        (scope.transport ?? transport) === transport,
    );
    if (found === undefined) return null;
    found.left -= 1;
    return found.fault;
  }

  #truth({ name: asked, type, ad }: DnsQuery): DnsContent {
    const authenticated = ad && this.authenticated;
    const answers: ZoneRecord[] = [];
    let name = asked.toLowerCase();
    for (let steps = 0; steps < MAX_CHAIN; steps++) {
      const own = this.#records(name, type);
      if (own.length > 0) return { code: 0, authenticated, answers: [...answers, ...own], authorities: [] };
      const aliases = this.#records(name, 'CNAME');
      const [alias] = aliases;
      if (alias?.type !== 'CNAME') break;
      answers.push(alias);
      name = alias.data;
    }
    const soa = { name: 'test', ttl: 3600, type: 'SOA', data: { minimum: this.negativeTtl } } as const;
    return { code: this.#exists(name) ? 0 : 3, authenticated, answers, authorities: [soa] };
  }

  #exists(name: string): boolean {
    return this.#zone.has(name) || [...this.#zone.keys()].some((other) => other.endsWith(`.${name}`));
  }

  #records(name: string, type: string): ZoneRecord[] {
    const entry = this.#zone.get(name)?.get(type);
    // What `set` put there is of its type.
    return (entry?.data ?? []).map((data) => ({ name, ttl: entry?.ttl ?? 0, type, data }) as ZoneRecord);
  }
}
