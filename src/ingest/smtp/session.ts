import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { answerRaw, spokenToSmtp } from '../../http/bad-request.ts';
import { lingeringClose } from '../../http/ending.ts';
import { ownTurn, yieldToLoop } from '../../lib/clock.ts';
import type { CloseReason, Effect, Question } from '../../smtp/receiver/effect.ts';
import { Receiver } from '../../smtp/receiver/receiver.ts';
import { type Answer, Answering } from './answering.ts';
import { type Arrived, MAX_HANDSHAKE_MS, upgrade } from './arrival.ts';
import type { Member, Timeouts } from './connections.ts';
import { ContentPace, HELD_TOO_LONG, tooSlow } from './content.ts';
import type { ListenerContext } from './context.ts';
import type { Refusal } from './refusal.ts';
import { Reports } from './reports.ts';
import { SessionNote, type SessionOver } from './session-note.ts';

/** How long a client may take to close after QUIT, or after closing its side, in ms. */
const GOODBYE_MS = 5000;

/** Unread replies, content that waits for memory, a TLS handshake, or, in a large message, the turn of others. */
type Held = 'replies' | 'memory' | 'handshake' | 'turn';

/**
 * One SMTP session over a socket: bytes to the receiver, its effects to the socket, its questions to {@link Answering}.
 */
export class Session implements Member {
  readonly #context: ListenerContext;
  readonly #address: string;
  readonly #requestId: string;
  readonly #receiver: Receiver;
  readonly #answering: Answering;
  readonly #reports: Reports;
  readonly #note: SessionNote;
  #socket: Socket;
  /** Why the receiver is not asked for effects. */
  #held: Held | null = null;
  #pumping = false;
  /** The client has closed its side; everything it sent is still answered. */
  #peerEnded = false;
  #over = false;
  /** When to end the connection if the client has not closed it. */
  #goneBy = Number.POSITIVE_INFINITY;
  /** When the client was last active: a whole command, some content, the end of something it waited for. */
  #heardAt: number;
  readonly #pace: ContentPace;

  /** Takes over a connection. `requestId` identifies it in the log. */
  constructor({ socket, client, secure }: Arrived, requestId: string, context: ListenerContext) {
    this.#context = context;
    this.#address = client.address;
    this.#requestId = requestId;
    this.#socket = socket;
    this.#receiver = new Receiver(context.receiverOptions, secure);
    this.#answering = new Answering(context, client, requestId, this.#receiver);
    this.#reports = new Reports(context.denials, client.address, requestId, this.#answering);
    this.#note = new SessionNote(context, client.address, requestId);
    this.#note.over(socket);
    this.#heardAt = context.deps.clock.mono();
    this.#pace = new ContentPace(this.#heardAt);
  }

  /** Listens, and greets when it is time. */
  begin(): void {
    this.#attach(this.#socket);
    // Reading the PROXY header paused it.
    this.#socket.resume();
    this.#greet().catch((error: unknown) => this.#fail(error));
  }

  look(now: number, timeouts: Timeouts): void {
    if (this.#over) {
      if (now >= this.#goneBy) this.destroy();
      return;
    }
    const slowness = this.#slowness(now);
    if (now - this.#heardAt >= this.#patienceMs(timeouts)) this.#timeOut();
    else if (slowness !== null) this.#dismiss(slowness);
  }

  /** How long the client may be silent in this state. */
  #patienceMs({ commandMs, dataMs }: Timeouts): number {
    if (this.#held === 'handshake') return Math.min(commandMs, MAX_HANDSHAKE_MS);
    return this.#receiver.isReadingContent ? dataMs : commandMs;
  }

  shutDown(): void {
    if (this.#held === 'handshake') this.destroy();
    this.#receiver.shutDown();
    this.#pump();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #greet(): Promise<void> {
    const { clock } = this.#context.deps;
    await clock.sleep(this.#context.policy.greetDelayMs(this.#address));
    // Bytes that have arrived must be read before the greeting is written (contract §1).
    await yieldToLoop();
    this.#receiver.greet();
    this.#pump();
  }

  #attach(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    socket.on('end', () => this.#hearEnd());
    socket.on('close', () => this.#gone());
  }

  #hear(chunk: Buffer): void {
    if (this.#over) return;
    this.#pace.add(chunk.length);
    // Pausing and resuming costs more than one waiting chunk: only a client that sends ahead is paused.
    if (!this.#receiver.wantsInput) this.#socket.pause();
    this.#receiver.receive(chunk);
    this.#pump();
    // Only the end of a command counts, which is answered: sending it byte by byte earns no extra time.
    if (this.#receiver.isReadingContent) this.#noteHeard();
  }

  #noteHeard(): void {
    this.#heardAt = this.#context.deps.clock.mono();
  }

  #hearEnd(): void {
    this.#peerEnded = true;
    this.#flow();
  }

  #gone(): void {
    this.#noteEnd(this.#held === 'handshake' ? 'tls' : 'lost');
    this.#over = true;
    this.#answering.forget();
  }

  /** For the log of requests; the first end counts. */
  #noteEnd(over: SessionOver): void {
    this.#note.end(over, () => ({
      ownerId: this.#answering.ownerId ?? this.#reports.namedKey,
      hello: this.#receiver.hello?.name ?? null,
      offered: this.#receiver.refusals.offered,
      accepted: this.#answering.accepted,
      refused: this.#receiver.refusals,
    }));
  }

  get #awaitsUs(): boolean {
    return this.#held !== null && this.#held !== 'turn';
  }

  /** The reply to a client that sends too slowly. While it waits for us, nothing is required. */
  #slowness(now: number): Refusal | null {
    const { minDataBytesPerSecond } = this.#context.options.settings;
    const couldSend = this.#receiver.isReadingContent && this.#receiver.wantsInput && !this.#awaitsUs;
    const isBehind = this.#answering.isBehind(couldSend, now);
    if (this.#pace.isBelow(couldSend ? minDataBytesPerSecond : 0, now)) return tooSlow(minDataBytesPerSecond);
    return isBehind ? HELD_TOO_LONG : null;
  }

  #dismiss(refusal: Refusal): void {
    this.#reports.count(refusal);
    this.#receiver.dismiss(refusal.reply);
    this.#pump();
  }

  /** A peer that does not read its replies gets none for this either. */
  #timeOut(): void {
    // It waits for us, and that wait has its own end.
    if (this.#held === 'memory') return;
    if (this.#held === 'replies' || this.#held === 'handshake') {
      this.#noteEnd(this.#held === 'handshake' ? 'tls' : 'time_out');
      this.destroy();
    } else this.#receiver.timeOut();
    this.#pump();
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#held === null && !this.#over) {
      const effect = this.#receiver.next();
      if (effect === null) break;
      this.#do(effect);
    }
    this.#pumping = false;
    this.#flow();
  }

  /** Reads from the socket when the bytes can be used. */
  #flow(): void {
    if (this.#over) return;
    if (this.#held !== null) this.#socket.pause();
    else if (!this.#receiver.wantsInput) return;
    else if (this.#peerEnded) this.#leave();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** The client has closed its side, without QUIT. */
  #leave(): void {
    this.#noteEnd('lost');
    this.#end();
  }

  #do(effect: Effect): void {
    switch (effect.kind) {
      case 'send':
        this.#noteHeard();
        if (!this.#socket.write(effect.text, 'latin1')) this.#awaitReading();
        break;
      case 'content':
        this.#take(effect.bytes);
        break;
      case 'discard':
        this.#answering.forget();
        break;
      case 'denied':
        this.#reports.denied(effect.reason);
        break;
      case 'refused':
        this.#reports.refused(effect.reason, effect.reply);
        break;
      case 'start_tls':
        this.#startTls().catch((error: unknown) => this.#fail(error));
        break;
      case 'http':
        this.#answerHttp(effect.isHead);
        break;
      case 'close':
        this.#close(effect.reason);
        break;
      default:
        this.#ask(effect);
    }
  }

  /** Few clients are ever slow to read their replies. */
  #awaitReading(): void {
    this.#held = 'replies';
    this.#socket.once('drain', () => this.#release('replies'));
  }

  #take(piece: Buffer): void {
    const refusal = this.#answering.take(piece);
    if (!(refusal instanceof Promise)) {
      if (refusal !== null) this.#refuseContent(refusal);
      else if (this.#answering.isTurnOver()) this.#letOthersRead();
      return;
    }
    this.#held = 'memory';
    void refusal.then((found) => {
      if (found !== null) this.#refuseContent(found);
      this.#release('memory');
    });
  }

  /** A client that sends as fast as we read would keep others waiting. */
  #letOthersRead(): void {
    this.#held = 'turn';
    void ownTurn().then(() => this.#release('turn'));
  }

  #refuseContent(refusal: Refusal): void {
    if (this.#over) return;
    this.#reports.count(refusal);
    this.#receiver.refuseContent(refusal.reply);
  }

  #release(held: Held): void {
    if (this.#held !== held) return;
    this.#held = null;
    // The client waited for us, so it was not silent.
    this.#noteHeard();
    this.#pump();
  }

  #ask(question: Question): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.#answering.answer(question);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!(answer instanceof Promise)) {
      this.#reports.count(answer);
      this.#tell(answer);
      return;
    }
    answer.then(
      (told) => {
        // Counted even if the client did not wait for it, as those that guess keys do not.
        this.#reports.count(told);
        if (this.#over) return;
        this.#noteHeard();
        this.#tell(told);
        this.#pump();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #tell(answer: Answer): void {
    if ('yes' in answer) this.#receiver.accept(answer.yes);
    else this.#receiver.refuse(answer.reply);
  }

  /** Handles a fault of ours. The client may try again. */
  #fail(error: unknown): void {
    const { log } = this.#context.deps;
    log.error('smtp.session_failed', { requestId: this.#requestId, error: String(error) });
    this.#noteEnd('fault');
    this.destroy();
  }

  async #startTls(): Promise<void> {
    const secureContext = this.#context.secureContext();
    if (secureContext === null) throw new Error('STARTTLS without a certificate');
    this.#held = 'handshake';
    this.#answering.reset();
    const { tls, secured } = upgrade(this.#socket, secureContext);
    this.#socket = tls;
    if (!(await secured)) {
      this.destroy();
      return;
    }
    this.#attach(tls);
    this.#note.over(tls);
    this.#receiver.secured();
    this.#release('handshake');
  }

  #answerHttp(isHead: boolean): void {
    this.#noteEnd('http');
    this.#over = true;
    this.#context.policy.spokeHttp(this.#address);
    answerRaw(spokenToSmtp(this.#context.options.webuiPort), this.#socket, this.#requestId, isHead);
    void lingeringClose(this.#socket, this.#context.deps.clock);
  }

  #close(reason: CloseReason): void {
    const told = { code: reason, source: this.#address, requestId: this.#requestId };
    this.#context.deps.log.debug('smtp.session_ended', told);
    if (reason === 'http_after_greeting') this.#context.policy.spokeHttp(this.#address);
    this.#reports.ended(reason);
    this.#noteEnd(reason);
    this.#end(reason);
  }

  #end(reason: CloseReason = 'quit'): void {
    this.#over = true;
    this.#answering.forget();
    if (reason !== 'quit') void lingeringClose(this.#socket, this.#context.deps.clock);
    else if (this.#mayCloseAtOnce()) this.#socket.destroy();
    else {
      // The remaining input is read and dropped, so that the client's end is seen.
      this.#goneBy = this.#context.deps.clock.mono() + GOODBYE_MS;
      this.#socket.end().resume();
    }
  }

  /**
   * The kernel has all replies and will deliver them, and nothing followed the client's QUIT: closing now resets
   * nothing. TLS has its own goodbye.
   */
  #mayCloseAtOnce(): boolean {
    const socket = this.#socket;
    if (socket.writableLength > 0 || socket instanceof TLSSocket) return false;
    return this.#peerEnded || (this.#receiver.waitingBytes === 0 && !socket.isPaused());
  }
}
