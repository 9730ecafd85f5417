import { type SessionReply, WITHHELD } from './session-reply.ts';

/** The verbs that are told of; another may be the text of a message that came as commands. */
const VERBS: ReadonlySet<string> = new Set([
  'AUTH',
  'BDAT',
  'DATA',
  'EHLO',
  'EXPN',
  'HELO',
  'HELP',
  'MAIL',
  'NOOP',
  'QUIT',
  'RCPT',
  'RSET',
  'STARTTLS',
  'VRFY',
]);

/** A command that was refused. */
export interface RefusedCommand {
  /** Null: before any command, or none that we know. */
  readonly verb: string | null;
  readonly reply: SessionReply;
  /** As in {@link SessionReply}; null: the reply has to say it. */
  readonly reason: string | null;
  /** How often it was refused in this way. */
  readonly times: number;
}

/** Ways of being refused that are kept of a session; the others are only counted. */
const MAX_REFUSALS = 5;

/** What a session refused its client: counted command by command, for who looks at the session when it has ended. */
export class Refusals {
  readonly #first: { -readonly [K in keyof RefusedCommand]: RefusedCommand[K] }[] = [];
  #verb: string | null = null;
  #offered = 0;
  #count = 0;

  /** The ways in which commands were refused, in order. */
  get first(): readonly RefusedCommand[] {
    return this.#first;
  }

  /** All refused commands. */
  get count(): number {
    return this.#count;
  }

  /** MAIL commands: how many messages the client wanted to send. */
  get offered(): number {
    return this.#offered;
  }

  /** A command comes. */
  hear(verb: string): void {
    this.#verb = VERBS.has(verb) ? verb : null;
    if (verb === 'MAIL') this.#offered += 1;
  }

  /** It, or its content, is refused. */
  add(reply: SessionReply, reason: string | null = reply.reason ?? WITHHELD.get(reply) ?? null): void {
    this.#count += 1;
    const verb = this.#verb;
    const { code, enhanced } = reply;
    const known = this.#first.find(
      (one) =>
        one.verb === verb &&
        one.reason === reason &&
        one.reply.code === code &&
        one.reply.enhanced === enhanced,
    );
    if (known !== undefined) known.times += 1;
    else if (this.#first.length < MAX_REFUSALS) this.#first.push({ verb, reply, reason, times: 1 });
  }
}
