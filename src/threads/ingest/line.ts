import type { Transferable } from 'node:worker_threads';
import { Problem } from '../../http/problem.ts';
import { yieldToLoop } from '../../lib/clock.ts';
import { ListenError } from '../../lib/listen.ts';
import { SpoolError } from '../../spool/spool.ts';
import { StoreError } from '../../store/store.ts';

/** What the other end can be asked, by room and verb. The caller is a thread of this process, and trusted. */
export type Rooms = Readonly<Record<string, object>>;

/** A port, or the worker that it leads to. */
export interface Port {
  postMessage(parcel: unknown, transfer: readonly Transferable[]): void;
  on(event: 'message', listener: (parcel: Parcel) => void): unknown;
}

interface Ask {
  readonly id: number;
  readonly room: string;
  readonly verb: string;
  readonly args: readonly unknown[];
}

type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: WireFault };

/** Everything gathered in one turn of the event loop: one message, however much it is. */
interface Parcel {
  readonly notes: unknown[];
  readonly asks: Ask[];
  readonly answers: Answer[];
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The connection between an ingest thread and the delivering thread. Either end asks and answers, and sends notes that
 * need no answer. A note sent before a call is heard before it.
 */
export class Line<Told, Heard> {
  readonly #port: Port;
  readonly #rooms: Rooms;
  readonly #hear: (note: Heard) => void;
  readonly #pending = new Map<number, Pending>();
  #parcel: Parcel = emptyParcel();
  #transfer: Transferable[] = [];
  #leaving = false;
  #lastId = 0;
  #ended: Error | null = null;
  #onIdle: (() => void) | null = null;

  constructor(port: Port, rooms: Rooms, hear: (note: Heard) => void) {
    this.#port = port;
    this.#rooms = rooms;
    this.#hear = hear;
    port.on('message', (parcel) => this.#receive(parcel));
  }

  /** Asks the other end. Rejects with the other end's error, restored, or with what ended the line. */
  ask(
    room: string,
    verb: string,
    args: readonly unknown[],
    transfer: readonly Transferable[] = [],
  ): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve, reject });
      this.#parcel.asks.push({ id, room, verb, args });
      for (const one of transfer) this.#transfer.push(one);
      this.#leave();
    });
  }

  /** Sends the other end a note. */
  tell(note: Told): void {
    this.#parcel.notes.push(note);
    this.#leave();
  }

  /** Resolves when every call is answered. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      // An answer may lead to another call.
      await yieldToLoop();
    }
  }

  /** The other end is gone: rejects all calls, pending and future. */
  end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#onIdle?.();
  }

  /** What arrives in the same turn goes in the same message. */
  #leave(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    setImmediate(() => {
      this.#leaving = false;
      const parcel = this.#parcel;
      const transfer = this.#transfer;
      this.#parcel = emptyParcel();
      this.#transfer = [];
      if (this.#ended === null) this.#post(parcel, transfer);
    });
  }

  /**
   * A value that cannot be sent is a bug, reported to its caller alone: the threads continue, and so does the rest of
   * the message, each part alone and in order.
   */
  #post(parcel: Parcel, transfer: readonly Transferable[]): void {
    if (this.#posts(parcel, transfer) === null) return;
    for (const note of parcel.notes) this.#posts({ ...emptyParcel(), notes: [note] });
    for (const ask of parcel.asks) {
      const fault = this.#posts({ ...emptyParcel(), asks: [ask] });
      if (fault !== null) this.#settle({ id: ask.id, fault });
    }
    for (const answer of parcel.answers) {
      const fault = this.#posts({ ...emptyParcel(), answers: [answer] });
      if (fault !== null) this.#posts({ ...emptyParcel(), answers: [{ id: answer.id, fault }] });
    }
  }

  /** Null if it was sent. */
  #posts(parcel: Parcel, transfer: readonly Transferable[] = []): WireFault | null {
    try {
      this.#port.postMessage(parcel, transfer);
      return null;
    } catch (error) {
      return packFault(error);
    }
  }

  #receive({ notes, asks, answers }: Parcel): void {
    for (const note of notes) this.#hear(note as Heard);
    for (const ask of asks) void this.#answer(ask);
    for (const answer of answers) this.#settle(answer);
  }

  async #answer({ id, room, verb, args }: Ask): Promise<void> {
    try {
      const verbs = this.#rooms[room] as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
      if (verbs[verb] === undefined) throw new Error(`nobody answers to ${room}.${verb}`);
      const value = await verbs[verb](...args);
      this.#parcel.answers.push({ id, value });
    } catch (error) {
      this.#parcel.answers.push({ id, fault: packFault(error) });
    }
    this.#leave();
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('fault' in answer) pending?.reject(unpackFault(answer.fault));
    else pending?.resolve(answer.value);
    if (this.#pending.size === 0) this.#onIdle?.();
  }
}

/** All verbs of a room at the other end, each of which must return a promise. */
export function remote<Room extends object>(
  ask: (room: string, verb: string, args: readonly unknown[]) => Promise<unknown>,
  room: string,
): Room {
  const verbs = {
    get:
      (_: object, verb: string) =>
      (...args: readonly unknown[]) =>
        ask(room, verb, args),
  };
  return new Proxy({}, verbs) as Room;
}

function emptyParcel(): Parcel {
  return { notes: [], asks: [], answers: [] };
}

/** An error as sent between threads: classes do not survive structured cloning. */
type WireFault =
  | { readonly kind: 'store'; readonly code: StoreError['code']; readonly message: string }
  | { readonly kind: 'spool'; readonly code: SpoolError['code']; readonly message: string }
  | {
      readonly kind: 'problem';
      readonly problem: Pick<Problem, 'status' | 'code' | 'detail' | 'errors' | 'headers'>;
    }
  | {
      readonly kind: 'listen';
      readonly code: ListenError['code'];
      readonly host: string;
      readonly port: number;
    }
  | { readonly kind: 'bug'; readonly message: string };

/** Packs an error. An unexpected one keeps its stack, for the log. */
function packFault(error: unknown): WireFault {
  if (error instanceof StoreError) return { kind: 'store', code: error.code, message: error.message };
  if (error instanceof SpoolError) return { kind: 'spool', code: error.code, message: error.message };
  if (error instanceof ListenError) {
    const { code, host, port } = error;
    return { kind: 'listen', code, host, port };
  }
  if (error instanceof Problem) {
    const { status, code, detail, errors, headers } = error;
    return { kind: 'problem', problem: { status, code, detail, errors, headers } };
  }
  return { kind: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** Restores the error. */
function unpackFault(fault: WireFault): Error {
  switch (fault.kind) {
    case 'store':
      return new StoreError(fault.code, fault.message);
    case 'spool':
      return new SpoolError(fault.code, fault.message);
    case 'listen':
      return new ListenError(fault.code, fault.host, fault.port);
    case 'problem': {
      const { status, code, detail, errors, headers } = fault.problem;
      return new Problem(status, code, detail, { errors, headers });
    }
    case 'bug':
      return new Error(fault.message);
  }
}
