import { type ExportDeps, exportMessages } from '../control/export.ts';
import { MAX_SUBJECT, shortened } from '../control/kept.ts';
import type { Downloads } from '../dashboard/downloads.ts';
import type { LiveConfig } from './live-config.ts';
import type { Storage } from './storage.ts';

/** What exporting takes. */
export interface ExportParts extends Pick<ExportDeps, 'queue' | 'clock'> {
  readonly storage: Pick<Storage, 'views' | 'keyring' | 'journal'>;
  readonly live: Pick<LiveConfig, 'loaded'>;
}

/** Exports what a query finds. It is written down before anything is read: what was begun has left. */
export function createExport({ storage, live, queue, clock }: ExportParts): Downloads['export'] {
  const { views, keyring, journal } = storage;
  return async (actor, request) => {
    const pieces = exportMessages(request, { views, keyring, queue, clock, resolution: () => live.loaded });
    await journal.record([
      {
        at: clock.wall(),
        actorKind: actor.kind,
        actor: actor.name,
        sourceAddress: actor.sourceAddress,
        action: 'export',
        subject: shortened(request.query, MAX_SUBJECT),
        before: null,
        after: JSON.stringify({ format: request.format }),
      },
    ]);
    return encoded(pieces);
  };
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}
