import type { Actor } from '../control/actor.ts';
import type { StreamedBody } from '../http/stream.ts';

/** The forms of an export. */
export const EXPORT_FORMATS = ['csv', 'json'] as const;

/** See {@link EXPORT_FORMATS}. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A file of a message. Its name and type were written by a stranger. */
export interface DownloadedPart {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

/** What can be downloaded, as the dashboard's routes see it. Refusals are `OperationError` or `Problem`. */
export interface Downloads {
  /** A message as it is sent. */
  source(id: string): Promise<StreamedBody>;
  /** A file of a message, by its number in the preview. */
  part(id: string, number: number): Promise<DownloadedPart>;
  /** A document that shows what a message says, and can do nothing; and the policy it is to be shown under. */
  document(id: string): Promise<{ readonly html: string; readonly policy: string }>;
  /** What a query finds, piece by piece; who exported what is written down. */
  export(
    actor: Actor,
    request: { readonly query: string; readonly format: ExportFormat },
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** A backup of the data directory's own folder, by its name; who took it is written down. */
  backup(actor: Actor, name: string): Promise<StreamedBody>;
}
