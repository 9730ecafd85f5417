import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { lingeringClose } from '../../http/ending.ts';
import { formatReply } from '../../smtp/receiver/session-reply.ts';
import type { Member, Timeouts } from './connections.ts';
import type { ListenerContext } from './context.ts';
import { type Client, ownerIdOf } from './origin.ts';
import { readProxyHeader } from './proxy-header.ts';
import { deny, type Refusal } from './refusal.ts';
import { SessionNote, type SessionOver } from './session-note.ts';

/** A connection whose source is known and counted, with TLS active where the port asks for it. */
export interface Arrived {
  readonly socket: Socket;
  readonly client: Client;
  readonly secure: boolean;
}

/** What takes over an arrived connection. */
interface Successor extends Member {
  begin(): void;
}

/** A PROXY header and a TLS handshake arrive at once or not at all, so they get only this long, in ms. */
const MAX_HEADER_MS = 5000;
export const MAX_HANDSHAKE_MS = 30_000;
const NO_HEADER = 'must begin with a PROXY header, because it is in listener.trusted_proxies';

/** A connection until its session begins: the PROXY header, the limits of its source, implicit TLS. */
export class Arrival implements Member {
  readonly #socket: Socket;
  readonly #peer: string;
  readonly #implicitTls: boolean;
  readonly #context: ListenerContext;
  readonly #open: (arrived: Arrived) => Successor;
  #since = 0;
  /** Stops waiting for a PROXY header; null when none is awaited. */
  #stopAwaiting: (() => void) | null = null;
  #address: string | null = null;
  #handshaking: Socket | null = null;
  #successor: Successor | null = null;

  /** `open` creates a session when one may begin; otherwise the connection ends here. */
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

  /** While something is awaited, this is the connection. */
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
    if (await secured) {
      this.#handOver({ socket: tls, client, secure: true });
      return;
    }
    // Who only connects and leaves has not tried.
    noteUnopened(client, this.#socket.bytesRead > 0 ? 'tls' : 'lost', null, this.#context);
    this.destroy();
  }

  /** In clear only: a TLS client would not understand it. While it is being told, it takes no other client's place. */
  #refuse(refusal: Refusal, client: Client = { address: this.#peer, isHidden: true }): void {
    tellTurnedAway(client, refusal, this.#context);
    this.#context.connections.remove(this);
    if (this.#implicitTls) this.destroy();
    else sayAndClose(this.#socket, client.address, refusal, this.#context);
  }
}

/** Logs a refused connection, with its owner if its source has a name. */
export function tellTurnedAway(client: Client, refusal: Refusal, context: ListenerContext): void {
  const { denied } = refusal;
  noteUnopened(client, 'refused', refusal, context);
  if (denied === null) return;
  const keyId = ownerIdOf(context.policy.origin(client));
  context.denials.tell({ type: 'denied', reason: denied, sourceAddress: client.address, keyId });
}

/** Notes a connection that became no session. */
function noteUnopened(
  client: Client,
  over: SessionOver,
  refusal: Refusal | null,
  context: ListenerContext,
): void {
  const first =
    refusal === null
      ? []
      : [{ verb: null, reply: refusal.reply, reason: refusal.reply.reason ?? null, times: 1 }];
  new SessionNote(context, client.address, '').end(over, () => ({
    ownerId: ownerIdOf(context.policy.origin(client)),
    hello: null,
    offered: 0,
    accepted: { count: 0, ids: [] },
    refused: { count: first.length, first },
  }));
}

/** Says in clear why a connection is refused, and closes it; when too many are being told already, only closes it. */
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

interface Handshake {
  /** The connection from now on. The socket below it must not be touched any more. */
  readonly tls: TLSSocket;
  /** Whether the handshake succeeded. Never rejects. */
  readonly secured: Promise<boolean>;
}

/** Performs the server's side of a TLS handshake on a connected socket, including its unread bytes. */
function secureServerSide(socket: Socket, secureContext: SecureContext): Handshake {
  const tls = new TLSSocket(socket, { isServer: true, secureContext });
  // Errors before, during and after the handshake end in a close.
  tls.on('error', () => tls.destroy());
  const secured = new Promise<boolean>((resolve) => {
    // A client that closes its side during the handshake cannot finish it; afterwards it may, and gets its replies.
    const leave = () => tls.destroy();
    tls.once('end', leave);
    // TLS never learns of an end that was read before it took over.
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

/** The same for STARTTLS on a socket in use: bytes that follow the command in clear are dropped (RFC 3207 §6). */
export function upgrade(socket: Socket, secureContext: SecureContext): Handshake {
  for (const event of ['data', 'drain', 'end']) socket.removeAllListeners(event);
  socket.pause();
  while (socket.read() !== null);
  return secureServerSide(socket, secureContext);
}
