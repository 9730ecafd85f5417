import { workerData } from 'node:worker_threads';
import { openDatabase } from '../store/sqlite/open.ts';
import type { Verbs } from '../store/sqlite/verbs.ts';
import { Writer } from '../store/sqlite/writer.ts';
import { packAnswer, serve } from './thread.ts';
import { unpackArgs } from './wire.ts';

/** The store thread: every batch of calls is one transaction. */
serve(() => {
  const { path } = workerData as { readonly path: string };
  const writer = new Writer(openDatabase(path));
  return {
    answer: (calls) =>
      writer
        .commit(calls.map((call) => ({ verb: call.verb as keyof Verbs, args: unpackArgs(call) })))
        .map(packAnswer),
    close: () => writer.close(),
  };
});
