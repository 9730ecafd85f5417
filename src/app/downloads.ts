import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_SUBJECT, shortened } from '../control/kept.ts';
import type { MessageWords } from '../control/message-words.ts';
import type { Downloads } from '../dashboard/downloads.ts';
import type { StreamedBody } from '../http/stream.ts';
import { openContent } from '../ingest/http/stored-content.ts';
import type { Clock } from '../lib/clock.ts';
import { isMessageId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import { DOCUMENT_POLICY, documentOf } from '../preview/parsed.ts';
import type { Spool } from '../spool/spool.ts';
import type { Journal } from '../store/journal.ts';
import type { Views } from '../store/views.ts';

/** What downloads are made of. */
export interface DownloadParts {
  readonly storage: { readonly views: Pick<Views, 'message'>; readonly spool: Pick<Spool, 'read'> };
  readonly words: MessageWords;
  /** What a query finds, as a file. */
  readonly export: Downloads['export'];
  /** The folder of the backups that this installation made. */
  readonly backupDirectory: string;
  /** Writes down, before the first byte, who took a backup. */
  readonly journal: Pick<Journal, 'record'>;
  readonly clock: Pick<Clock, 'wall'>;
}

/** Gives the dashboard what can be downloaded from it. */
export function createDownloads({ storage, words, backupDirectory, ...parts }: DownloadParts): Downloads {
  const { views, spool } = storage;
  return {
    source: async (id) => {
      const detail = isMessageId(id) ? await views.message(id) : null;
      if (detail === null) throw new OperationError('not_found', `There is no message ${id}.`);
      return await openContent(detail.message, spool, 404);
    },
    part: async (id, number) => {
      const file = (await words.read(id)).words.attachments[number];
      if (file === undefined) throw new OperationError('not_found', 'The message has no such file.');
      return { filename: file.filename, bytes: file.content };
    },
    document: async (id) => ({ html: documentOf((await words.read(id)).words), policy: DOCUMENT_POLICY }),
    export: parts.export,
    backup: async (actor, name) => {
      const body = await openBackup(backupDirectory, name);
      const { kind: actorKind, name: by, sourceAddress } = actor;
      const act = {
        action: 'downloadBackup',
        subject: shortened(name, MAX_SUBJECT),
        before: null,
        after: null,
      };
      await parts.journal.record([{ at: parts.clock.wall(), actorKind, actor: by, sourceAddress, ...act }]);
      return body;
    },
  };
}

/** A name is looked up among those that lie there, so that it can lead nowhere else. */
async function openBackup(directory: string, name: string): Promise<StreamedBody> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found = entries.find((entry) => entry.isFile() && entry.name === name && !name.startsWith('.'));
  if (found === undefined) throw new OperationError('not_found', 'There is no such backup.');
  const file = join(directory, found.name);
  const { size } = await stat(file);
  // What is being written to while it is read would have another length than was told.
  const end = size > 0 ? { end: size - 1 } : {};
  return { sizeBytes: size, chunks: () => createReadStream(file, end) };
}
