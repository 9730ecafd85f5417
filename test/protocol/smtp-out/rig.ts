/** A sink and a transport that delivers to it. All is closed after each test, and nothing may be left open. */
import { afterEach, expect } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { Relay, SmarthostSettings } from '../../../src/domain/relay.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { type SmarthostTokenParts, smarthostTokens } from '../../../src/transport/providers/tokens.ts';
import type { Timeouts } from '../../../src/transport/smtp/deadline.ts';
import type { PoolLimits } from '../../../src/transport/smtp/pool.ts';
import { createSmtpTransport } from '../../../src/transport/smtp/smtp.ts';
import type { Transport, TransportJob, TransportResult } from '../../../src/transport/transport.ts';
import { type SmtpSink, startSmtpSink } from '../../peers/smtp-sink.ts';
import type { SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** About so many bytes of a body in lines that anybody takes. */
export function linesOf(bytes: number): Buffer {
  return Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(Math.ceil(bytes / 78)));
}

/** What a test may set. */
export interface RigOptions {
  readonly sink?: SmtpSinkOptions;
  readonly smtp?: Partial<SmarthostSettings>;
  readonly timeouts?: Partial<Timeouts>;
  readonly pool?: Partial<PoolLimits>;
  /** How access tokens are asked for, where the settings have OAuth. */
  readonly tokens?: Omit<SmarthostTokenParts, 'clock'>;
}

/** A message to be delivered; everything has a default. */
export interface Mail {
  readonly from?: string;
  readonly to?: readonly string[];
  readonly content?: string | readonly Uint8Array[];
  readonly ret?: 'FULL' | 'HDRS' | null;
  readonly envid?: string | null;
  /** Of every recipient. */
  readonly dsn?: { readonly notify: string | null; readonly orcpt: string | null };
  readonly flags?: Partial<TransportJob['content']['flags']>;
  readonly tls?: TransportJob['tls'];
  readonly sizeBytes?: number;
  readonly gate?: TransportJob['gate'];
  readonly refused?: AbortSignal;
  readonly signal?: AbortSignal;
  readonly sent?: () => void;
}

/** See the file's head. */
export interface Rig {
  readonly sink: SmtpSink;
  readonly transport: Transport;
  /** Stands still until advanced: no time-out happens by accident. */
  readonly clock: ManualClock;
  deliver(mail?: Mail): Promise<TransportResult>;
}

/** The content sent unless a test says otherwise. */
const CONTENT = 'Subject: test\r\n\r\nHello.\r\n';

/** Starts a sink, and a transport with it as its smarthost: in clear unless `smtp` says otherwise. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const sink = await startSmtpSink(options.sink);
  const clock = new ManualClock();
  const relay = relayTo({ port: sink.port, ...options.smtp });
  const oauth = relay.smtp?.oauth;
  const transport = createSmtpTransport({
    relay,
    ...(oauth && { tokens: smarthostTokens(oauth, { clock, ...options.tokens }) }),
    hostname: 'client.example',
    clock,
    log: silentLog,
    ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    ...(options.pool ? { poolLimits: options.pool } : {}),
  });
  closers.push(async () => {
    await sink.close();
    await transport.close();
    expect(transport.connections()).toBe(0);
  });
  return { sink, transport, clock, deliver: (mail) => deliver(transport, mail) };
}

/** A relay of type `smtp`; without settings it leads nowhere. */
export function relayTo(smtp: Partial<SmarthostSettings>): Relay {
  return {
    name: 'out',
    type: 'smtp',
    origin: 'file',
    disabled: false,
    limits: {
      maxConcurrency: 20,
      maxRatePerSecond: 0,
      maxMessageBytes: 0,
      maxRecipients: 100,
      maxPerDay: 0,
      reservePercent: 0,
      warmUp: null,
    },
    smtp: {
      host: '127.0.0.1',
      port: 1,
      tls: 'none',
      verify: true,
      username: null,
      password: null,
      helo: null,
      sourceIps: [],
      ipFamily: 'any',
      returnPath: 'auto',
      ...smtp,
    },
    mx: null,
    provider: null,
  };
}

/** Delivers over any transport. */
export function deliver(transport: Transport, mail: Mail = {}): Promise<TransportResult> {
  const { content = CONTENT } = mail;
  const chunks = typeof content === 'string' ? [Buffer.from(content)] : content;
  const job: TransportJob = {
    messageId: 'msg_01k00000000000000000000000',
    envelope: {
      reversePath: mail.from ?? 'sender@example.org',
      recipients: (mail.to ?? ['one@example.net']).map((address) => ({
        address,
        kind: 'to',
        ...(mail.dsn ?? { notify: null, orcpt: null }),
      })),
      ret: mail.ret ?? null,
      envid: mail.envid ?? null,
    },
    content: {
      sizeBytes: mail.sizeBytes ?? chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      flags: { eightBit: false, utf8: false, dotStuffing: false, ...mail.flags },
      chunks: () => chunks,
    },
    tls: mail.tls,
    gate: mail.gate ?? (async () => true),
    refused: mail.refused ?? new AbortController().signal,
    ...(mail.sent && { sent: mail.sent }),
  };
  return transport.deliver(job, mail.signal ?? new AbortController().signal);
}

/** The only outcome there is, flattened for comparing. */
export function only(
  result: TransportResult,
): { kind: Outcome['kind']; hopFailed: boolean; hopBound: boolean } & Outcome['reply'] {
  expect(result.outcomes).toHaveLength(1);
  const [outcome] = result.outcomes;
  if (!outcome) throw new Error('no outcome');
  const { kind, reply } = outcome;
  const hopBound = kind === 'rejected' && outcome.hopBound === true;
  return { kind, hopFailed: result.hopFailed, hopBound, ...reply };
}

/** Kinds of outcome, in the envelope's order. */
export function kinds(result: TransportResult): Outcome['kind'][] {
  return result.outcomes.map((outcome) => outcome.kind);
}

/** Lets time pass in steps of `ms` until `promise` is settled. */
export async function advanceUntil<T>(clock: ManualClock, ms: number, promise: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  while (!settled) await clock.advance(ms);
  return await promise;
}

/** A promise that never resolves: a gate that stays shut, a peer that waits. */
export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
