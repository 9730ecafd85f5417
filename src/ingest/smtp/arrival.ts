import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { lingeringClose } from '../../http/ending.ts';
import { formatReply } from '../../smtp/receiver/session-reply.ts';
import type { Member, Timeouts } from './connections.ts';
import type { ListenerContext } from './context.ts';
import { type Client, ownerIdOf } from './origin.ts';
import { readProxyHeader } from './proxy-header.ts';
import { deny, type Refusal } from './refusal.ts';

/** A connection whose source is known and counted, with TLS active where the port asks for it. */
export interface Arrived {
  readonly socket: Socket;
  readonly client: Client;
  readonly secure: boolean;
}

/** What takes over a connection that has arrived. */
interface Successor extends Member {
  begin(): void;
}

/** What comes at once or not at all gets no longer than this, in ms: a proxy's header, and a TLS handshake. */
const MAX_HEADER_MS = 5000;
export const MAX_HANDSHAKE_MS = 30_000;
const NO_HEADER = 'must begin with a PROXY header, for it is in listener.trusted_proxies';

/** A connection until its session begins: the PROXY header, the limits of its source, implicit TLS. */
export class Arrival implements Member {
  readonly #socket: Socket;
  readonly #peer: string;
  readonly #implicitTls: boolean;
  readonly #context: ListenerContext;
  readonly #open: (arrived: Arrived) => Successor;
  #since = 0;
  /** Ends the waiting for a PROXY header; null when none is awaited. */
  #stopAwaiting: (() => void) | null = null;
  #address: string | null = null;
  #handshaking: Socket | null = null;
  #successor: Successor | null = null;

  /** `open` is asked for a session when one may begin; else the connection is ended here. */
  constructor(
    socket: Socket,
    peer: string,
    implicitTls: boolean,
    context: ListenerContext,
    open: (arrived: Arrived) => Successor,
  ) {
    this.#socket = socket;
    this.#peer = peer;
    this.#implicitTls = implicitTls;
    this.#context = context;
    this.#open = open;
    socket.on('close', () => this.#gone());
  }

  /** Begins. */
  begin(): void {
    if (this.#context.options.trustedProxies.contains(this.#peer)) this.#awaitHeader();
    else this.#enter({ address: this.#peer, isHidden: false });
  }

  look(now: number, { commandMs }: Timeouts): void {
    const isAwaiting = this.#stopAwaiting !== null;
    if (now - this.#since < Math.min(commandMs, isAwaiting ? MAX_HEADER_MS : MAX_HANDSHAKE_MS)) return;
    if (isAwaiting) this.#refuseWithoutHeader();
    else this.destroy();
  }

  shutDown(): void {
    this.destroy();
  }

  destroy(): void {
    this.#handshaking?.destroy();
    this.#socket.destroy();
  }

  #gone(): void {
    this.#context.connections.remove(this.#successor ?? this);
    if (this.#address !== null) this.#context.connections.unclaim(this.#address);
  }

  /** Something is waited for: until it is here, this is the connection. */
  #wait(): void {
    this.#since = this.#context.deps.clock.mono();
    this.#context.connections.add(this);
  }

  #awaitHeader(): void {
    this.#wait();
    let bytes: Buffer = Buffer.alloc(0);
    const socket = this.#socket;
    const leave = () => socket.destroy();
    const onData = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const header = readProxyHeader(bytes);
      if (header.kind === 'more') return;
      if (header.kind === 'invalid') {
        this.#refuseWithoutHeader();
        return;
      }
      this.#stopAwaiting?.();
      if (header.length < bytes.length) socket.unshift(bytes.subarray(header.length));
      const { source } = header;
      this.#enter({ address: source ?? this.#peer, isHidden: source === null });
    };
    socket.on('data', onData).once('end', leave);
    this.#stopAwaiting = () => {
      this.#stopAwaiting = null;
      socket.removeListener('data', onData).removeListener('end', leave);
      socket.pause();
    };
  }

  #refuseWithoutHeader(): void {
    this.#stopAwaiting?.();
    this.#refuse(deny('proxy_header', 421, '4.7.0', `${this.#peer} ${NO_HEADER}`));
  }

  #enter(client: Client): void {
    const { address } = client;
    const refusal = this.#context.connections.claim(address);
    if (refusal !== null) {
      this.#refuse(refusal, client);
      return;
    }
    this.#address = address;
    if (this.#implicitTls) void this.#handshake(client);
    else this.#handOver({ socket: this.#socket, client, secure: false });
  }

  #handOver(arrived: Arrived): void {
    const successor = this.#open(arrived);
    this.#successor = successor;
    this.#context.connections.replace(this, successor);
    successor.begin();
  }

  async #handshake(client: Client): Promise<void> {
    const secureContext = this.#context.secureContext();
    if (secureContext === null) throw new Error('implicit TLS without a certificate');
    const { tls, secured } = secureServerSide(this.#socket, secureContext);
    this.#handshaking = tls;
    this.#wait();
    if (await secured) this.#handOver({ socket: tls, client, secure: true });
    else this.destroy();
  }

  /** In clear only: who speaks TLS would not understand it. While it is told why, it takes no place of others. */
  #refuse(refusal: Refusal, client: Client = { address: this.#peer, isHidden: true }): void {
    tellTurnedAway(client, refusal, this.#context);
    this.#context.connections.remove(this);
    if (this.#implicitTls) this.destroy();
    else sayAndClose(this.#socket, client.address, refusal, this.#context);
  }
}

/** Tells the log of a connection that is turned away, with whose it is if its source has a name. */
export function tellTurnedAway(
  client: Client,
  { denied }: Refusal,
  { denials, policy }: ListenerContext,
): void {
  if (denied === null) return;
  const keyId = ownerIdOf(policy.origin(client));
  denials.tell({ type: 'denied', reason: denied, sourceAddress: client.address, keyId });
}

/** Says in clear why a connection is turned away, and ends it; when too many are being told so already, it is just ended. */
export function sayAndClose(
  socket: Socket,
  address: string,
  { reply }: Refusal,
  { connections, deps }: ListenerContext,
): void {
  const done = connections.turnAway(address);
  if (done === null) {
    socket.destroy();
    return;
  }
  socket.write(formatReply(reply));
  void lingeringClose(socket, deps.clock).then(done);
}

/** A handshake that has begun. */
interface Handshake {
  /** What is spoken over from now on. The socket below it must not be touched any more. */
  readonly tls: TLSSocket;
  /** Whether it came about. Never rejects. */
  readonly secured: Promise<boolean>;
}

/** Does the server's side of a TLS handshake over a connected socket, with what is still unread of it. */
function secureServerSide(socket: Socket, secureContext: SecureContext): Handshake {
  const tls = new TLSSocket(socket, { isServer: true, secureContext });
  // Errors end in a close, before, within and after the handshake.
  tls.on('error', () => tls.destroy());
  const secured = new Promise<boolean>((resolve) => {
    // Who closes its side before that cannot finish it; afterwards it may, and gets its replies.
    const leave = () => tls.destroy();
    tls.once('end', leave);
    // An end that was read before TLS took over the reading is never told to TLS.
    socket.once('end', leave);
    if (socket.readableEnded) leave();
    tls.once('secure', () => {
      tls.removeListener('end', leave);
      socket.removeListener('end', leave);
      resolve(true);
    });
    tls.once('close', () => resolve(false));
    socket.once('close', () => {
      tls.destroy();
      resolve(false);
    });
  });
  return { tls, secured };
}

/** The same behind STARTTLS, over a socket that was spoken over: what came behind it in clear is dropped (RFC 3207 §6). */
export function upgrade(socket: Socket, secureContext: SecureContext): Handshake {
  for (const event of ['data', 'drain', 'end']) socket.removeAllListeners(event);
  socket.pause();
  while (socket.read() !== null);
  return secureServerSide(socket, secureContext);
}
