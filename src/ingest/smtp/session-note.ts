import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SessionEnd, SmtpRefusal, SmtpSessionFacts } from '../../domain/request-line.ts';
import type { CloseReason } from '../../smtp/receiver/effect.ts';
import type { RefusedCommand } from '../../smtp/receiver/refusals.ts';
import { printable, type SessionReply } from '../../smtp/receiver/session-reply.ts';
import type { ListenerContext } from './context.ts';
import { NOTHING_SENT } from './session-log.ts';

/** Why a session is over: as the receiver says, or `lost`, `tls` for a handshake that failed, `http`, or a fault of ours. */
export type SessionOver = CloseReason | 'lost' | 'tls' | 'http' | 'fault';

/** What is known of a session at its end. */
interface Told {
  readonly ownerId: string | null;
  readonly hello: string | null;
  readonly offered: number;
  /** Messages that were accepted: how many, and the first of them. */
  readonly accepted: { readonly count: number; readonly ids: readonly string[] };
  readonly refused: { readonly count: number; readonly first: readonly RefusedCommand[] };
}

/** Ends that the client chose, and those that time brought about. */
const ENDS: Readonly<Partial<Record<SessionOver, SessionEnd>>> = {
  quit: 'quit',
  lost: 'lost',
  tls: 'lost',
  time_out: 'time_out',
};

/** One session for the log of requests: when it began, over what; its line is made at its end, once. */
export class SessionNote {
  readonly #context: Pick<ListenerContext, 'sessions' | 'deps'>;
  readonly #address: string;
  readonly #requestId: string;
  readonly #startedAt: number;
  #tls: string | null = null;
  #isOver = false;

  constructor(context: Pick<ListenerContext, 'sessions' | 'deps'>, address: string, requestId: string) {
    this.#context = context;
    this.#address = address;
    this.#requestId = requestId;
    this.#startedAt = context.deps.clock.mono();
  }

  /** Reads from the socket over which TLS it goes. */
  over(socket: Socket): void {
    this.#tls = socket instanceof TLSSocket ? socket.getProtocol() : null;
  }

  /** The session has ended; what follows the first end does not count. */
  end(over: SessionOver, told: () => Told): void {
    const { sessions, deps } = this.#context;
    if (this.#isOver) return;
    this.#isOver = true;
    if (sessions === null || !sessions.isKept) return;
    const { clock } = deps;
    const { ownerId, hello, offered, accepted, refused } = told();
    const session: SmtpSessionFacts = {
      hello: hello === null ? null : shownHello(hello),
      tls: this.#tls,
      offered,
      accepted: accepted.count,
      messages: accepted.ids,
      refused: refused.count,
      refusals: refused.first.map(refusalOf),
      end: ENDS[over] ?? 'closed',
    };
    sessions.add({
      ...verdictOf(over, session),
      at: clock.wall(),
      durationMs: Math.round(clock.mono() - this.#startedAt),
      keyId: ownerId,
      sourceAddress: this.#address,
      method: 'SMTP',
      path: '',
      faults: null,
      requestId: this.#requestId,
      weight: 1,
      session,
    });
  }
}

/** Codes of ends by which a message was cut off. */
const CUT_OFF: Readonly<Partial<Record<SessionOver, string>>> = {
  time_out: 'time_out',
  shutdown: 'shutting_down',
};

/** Why the session came to nothing, or to less than was asked; the first refusal that has a reason of its own says it. */
function verdictOf(over: SessionOver, { offered, accepted, refusals }: SmtpSessionFacts) {
  const isShort = accepted === 0 || accepted < offered;
  const refusal = refusals.find(({ code }) => !GENERAL.has(code)) ?? refusals[0];
  if (isShort && refusal !== undefined) return { status: refusal.reply, code: refusal.code };
  if (over === 'tls') return { status: null, code: 'tls_failed' };
  if (isShort && offered > 0 && over !== 'quit')
    return { status: null, code: CUT_OFF[over] ?? 'session_lost' };
  return accepted > 0 ? { status: 250, code: null } : { status: 221, code: NOTHING_SENT };
}

function refusalOf({ verb, reply, reason, times }: RefusedCommand): SmtpRefusal {
  const { code, enhanced, text } = reply;
  return {
    verb,
    reply: code,
    enhanced,
    text: shownReply(printable(text)),
    code: reason ?? generalReason(reply),
    times,
  };
}

/** Codes of replies that have no reason of their own. */
// biome-ignore format: a table
const BY_STATUS: readonly (readonly [reply: RegExp, code: string])[] = [
  [/^\d+ 5\.1\.[37]$/, 'address_syntax'],
  [/^553 5\.6\.7$/, 'needs_smtputf8'],
  [/^452 4\.5\.3$/, 'too_many_recipients'],
  [/^554 5\.5\.1$/, 'no_recipients'],
  [/^503 /, 'command_order'],
];
const GENERAL = new Set([...BY_STATUS.map(([, code]) => code), 'command_syntax']);

function generalReason({ code, enhanced }: SessionReply): string {
  return BY_STATUS.find(([reply]) => reply.test(`${code} ${enhanced}`))?.[1] ?? 'command_syntax';
}

const MAX_HELLO = 80;
const MAX_REPLY = 200;
const CUT = '…';

/** What may be an address, whole or in part, and what stands between angle brackets. */
const ADDRESSES = /<[^>]*>?|"[^"]*"@\S*|[^\s<>,;:()[\]]*@[^\s<>,;()]*/g;
const POSTMASTER = /^<postmaster>$/i;

/** The name of EHLO, without addresses: a host name or an address literal, or what a device calls itself. */
export function shownHello(name: string): string {
  return shortened(withoutAddresses(name), MAX_HELLO);
}

/** The text of a reply, without addresses, which may be those of people. */
export function shownReply(text: string): string {
  return shortened(withoutAddresses(text), MAX_REPLY);
}

function withoutAddresses(text: string): string {
  return text.replaceAll(ADDRESSES, (found) => {
    if (POSTMASTER.test(found)) return found;
    return found.startsWith('<') ? `<${CUT}>` : CUT;
  });
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}${CUT}` : text;
}
