import { workerData } from 'node:worker_threads';
import type { EventsKept } from '../domain/event.ts';
import { openDatabase } from '../store/sqlite/open.ts';
import type { Verbs } from '../store/sqlite/verbs.ts';
import { Writer } from '../store/sqlite/writer.ts';
import { packAnswer, serve } from './thread.ts';
import { unpackArgs } from './wire.ts';

/** The store thread: every batch of calls is one transaction. */
serve(() => {
  const { path, eventsKept } = workerData as { readonly path: string; readonly eventsKept?: EventsKept };
  const writer = new Writer(openDatabase(path), eventsKept);
  return {
    answer: (calls) =>
      writer
        .commit(calls.map((call) => ({ verb: call.verb as keyof Verbs, args: unpackArgs(call) })))
        .map(packAnswer),
    close: () => writer.close(),
  };
});
