/** A client, an owner and the receiver between them, without sockets: whatever happens is written down. */
import type {
  Effect,
  ForwardPath,
  Question,
  ReceiverOptions,
  ReversePath,
} from '../../../src/smtp/receiver/effect.ts';
import { Receiver } from '../../../src/smtp/receiver/receiver.ts';
import type { SessionReply } from '../../../src/smtp/receiver/session-reply.ts';

/** What a receiver is made with unless a test says otherwise. */
export const OPTIONS: ReceiverOptions = {
  hostname: 'mx.test',
  startTls: true,
  requireTls: false,
  auth: 'secure',
  requireAuth: false,
  quotedLocalParts: true,
  content: { bareNewline: 'reject', maxLineBytes: 1000 },
  maxMessageBytes: 5000,
  maxRecipients: 100,
  maxTransactions: 50,
  maxCommandsWithoutMail: 100,
  softErrors: 100,
  hardErrors: 200,
  maxAuthFailures: 3,
  maxWaitingBytes: 100_000,
};

/** How the owner answers: by what the address begins with, by the password, else yes. */
function answerTo(question: Question): SessionReply | null {
  switch (question.kind) {
    case 'mail':
      return byLocalPart(question.path, { no: [550, '5.7.1'], bye: [421, '4.7.0'] });
    case 'rcpt':
      return byLocalPart(question.path, { no: [550, '5.1.1'], wait: [451, '4.7.1'] });
    case 'begin':
      return byLocalPart(question.envelope.reversePath, { full: [452, '4.3.1'] });
    case 'message':
      return byLocalPart(question.envelope.reversePath, { unlucky: [451, '4.3.0'] });
    case 'auth':
      return authAnswer(question.credentials.password);
    case 'pause':
      return null;
  }
}

function authAnswer(password: string): SessionReply | null {
  if (password === 'secret') return null;
  return password === 'away' ? refusal(454, '4.7.0') : refusal(535, '5.7.8');
}

function byLocalPart(
  { mailbox }: ReversePath | ForwardPath,
  refusals: Readonly<Record<string, readonly [number, string]>>,
): SessionReply | null {
  const found = refusals[mailbox?.local ?? ''];
  return found === undefined ? null : refusal(...found);
}

function refusal(code: number, enhanced: string): SessionReply {
  return { code, enhanced, text: 'not by this owner' };
}

/** How a client cuts what it says, and when the owner answers. */
export interface Manner {
  readonly cut: (bytes: Buffer) => readonly Buffer[];
  /** At once; when the receiver has nothing else to do; or when all was said. */
  readonly answers: 'at_once' | 'late' | 'last';
}

/** One connection. */
export class Peer {
  readonly receiver: Receiver;
  /** What the server said since it was last looked at. */
  sent = '';
  /** What else happened: messages, discards, handshakes, the end. */
  events: string[] = [];
  /** How often it wrote. */
  writes = 0;
  messages = 0;
  #content: Buffer[] = [];
  readonly #manner: Manner;

  constructor(options: Partial<ReceiverOptions>, manner: Manner, secure = false) {
    this.receiver = new Receiver({ ...OPTIONS, ...options }, secure);
    this.#manner = manner;
  }

  /** The client sends bytes, and everything that follows from them is done. */
  say(bytes: Buffer): void {
    for (const chunk of this.#manner.cut(bytes)) {
      // As from a socket: memory of its own.
      this.receiver.receive(Buffer.from(chunk));
      if (this.#manner.answers === 'last') this.#drain();
      else this.pump();
    }
    this.pump();
  }

  #drain(): void {
    for (let effect = this.receiver.next(); effect !== null; effect = this.receiver.next()) this.#do(effect);
  }

  pump(): void {
    for (;;) {
      this.#drain();
      if (this.#open === null) return;
      this.#answer(this.#open);
    }
  }

  #open: Question | null = null;

  #do(effect: Effect): void {
    switch (effect.kind) {
      case 'send':
        this.sent += effect.text;
        this.writes += 1;
        break;
      case 'content':
        this.#content.push(effect.bytes);
        break;
      case 'discard':
        this.#content = [];
        this.events.push('discard');
        break;
      case 'denied':
        this.events.push(`denied ${effect.reason}`);
        break;
      case 'refused':
        this.events.push(`refused ${effect.reason}`);
        break;
      case 'start_tls':
        this.events.push('start_tls');
        break;
      case 'http':
        this.events.push('http');
        break;
      case 'close':
        this.events.push(`close ${effect.reason}`);
        break;
      default:
        this.#note(effect);
        if (this.#manner.answers === 'at_once') this.#answer(effect);
        else this.#open = effect;
    }
  }

  #answer(question: Question): void {
    this.#open = null;
    const reply = answerTo(question);
    if (reply === null) this.receiver.accept(question.kind === 'message' ? 'queued as msg_1' : undefined);
    else this.receiver.refuse(reply);
  }

  #note(question: Question): void {
    if (question.kind === 'begin') this.#content = [];
    if (question.kind === 'pause') this.events.push('pause');
    if (question.kind === 'auth') {
      const { mechanism, authorizationId, username, password } = question.credentials;
      this.events.push(`auth ${mechanism} ${JSON.stringify([authorizationId, username, password])}`);
    }
    if (question.kind !== 'message') return;
    this.messages += 1;
    const { reversePath, forwardPaths } = question.envelope;
    const body = Buffer.concat(this.#content);
    if (body.length !== question.sizeBytes) throw new Error('the size is not that of the content');
    const to = forwardPaths.map(written).join(' ');
    const dots = question.dotStuffing ? ' dots' : '';
    this.events.push(
      `message ${written(reversePath)} -> ${to} ${JSON.stringify(body.toString('latin1'))}${dots}`,
    );
  }
}

/** The path with the parameters that were given. */
function written({ mailbox, ...parameters }: ReversePath | ForwardPath): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== false);
  return [`<${mailbox?.address ?? ''}>`, ...given.map(([name, value]) => `${name}=${value}`)].join(' ');
}
