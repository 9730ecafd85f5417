import type { Command } from 'commander';
import type { InboxPage } from '../operations/inbox.ts';
import type { MessagePreview } from '../operations/search.ts';
import type { Operations } from '../operations/table.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { clip, fittingTable } from './fitting.ts';
import { groupCommand } from './operation-command.ts';
import { withOperations } from './session.ts';
import { counted, Exit } from './terminal.ts';

/** `waybill inbox …`: captured mail. */
export function inboxCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'inbox',
    title: 'captured mail',
    order: ['list', showCommand(context), deleteCommand(context), 'release'],
    texts: { inbox: (page, { columns }) => pageText(page, columns) },
  });
}

/** Most characters of a cell of text that comes from outside. */
const MAX_CELL = 48;

function pageText({ messages, next, notes }: InboxPage, columns: number | null): string {
  if (messages.length === 0 && next === null) return ['There is no such mail.', ...notes].join('\n');
  const rows = messages.map(({ id, createdAt, key, box, to, cc, bcc, subject }) => {
    const recipients = [...to, ...cc, ...bcc];
    const [first = ''] = recipients;
    const more = recipients.length > 1 ? ` and ${recipients.length - 1} more` : '';
    return [id, createdAt, key ?? '', box ?? '', `${clip(first, MAX_CELL)}${more}`, clip(subject, MAX_CELL)];
  });
  const table = fittingTable(['ID', 'CAPTURED', 'KEY', 'BOX', 'TO', 'SUBJECT'], rows, columns);
  const rest = next === null ? [] : ['', `There are more: repeat the command with --before ${next}`];
  return [...notes, table, ...rest].join('\n');
}

function showCommand(context: Context): Command {
  return command('show', 'show what a captured message says, with its links, codes and files', [
    'waybill inbox show msg_01k…',
    'waybill inbox show msg_01k… --json',
  ])
    .argument('<id>', "the message's id")
    .action(async (id: string, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const preview = await operations.messagePreview({ id: id.trim() });
        print(context, options, preview, () => previewText(preview));
      });
    });
}

function previewText({
  from,
  subject,
  text,
  hasHtml,
  links,
  codes,
  attachments,
  notes,
}: MessagePreview): string {
  const noText = hasHtml ? '(no text, only HTML)' : '(no text)';
  return [
    `From:    ${from}`,
    `Subject: ${subject}`,
    ...(codes.length === 0 ? [] : [`Codes:   ${codes.join(', ')}`]),
    ...links.map((link) => `Link:    ${link.url}${link.text === '' ? '' : ` (${link.text})`}`),
    ...attachments.map(
      (file) => `File:    ${file.filename}, ${file.contentType}, ${counted(file.sizeBytes, 'byte')}`,
    ),
    ...notes,
    '',
    text ?? noText,
  ].join('\n');
}

interface DeleteOptions extends CommonOptions {
  readonly all?: true;
  readonly key?: string;
  readonly box?: string;
}

function deleteCommand(context: Context): Command {
  return command('delete', 'delete captured messages; their records stay', [
    'waybill inbox delete msg_01k…',
    'waybill inbox delete --box worker-1',
    'waybill inbox delete --all',
  ])
    .argument('[id...]', "the messages' ids")
    .option('--all', 'everything that was captured')
    .option('--key <key>', 'all of this key, by name or id')
    .option('--box <box>', 'all in this box')
    .action(async (ids: readonly string[], options: DeleteOptions) => {
      const { all, key = null, box = null } = options;
      const isSome = key !== null || box !== null;
      if ([ids.length > 0, all === true, isSome].filter(Boolean).length !== 1)
        throw new Exit(2, 'Give ids, or --key and --box, or --all.');
      await withOperations(context, options, {}, async (operations) => {
        const deleted =
          ids.length > 0 ? await deleteThese(operations, ids) : await deleteAll(operations, { key, box });
        print(context, options, { deleted }, () => `Deleted ${counted(deleted, 'message')}.`);
      });
    });
}

/** Most ids that one call takes. */
const AT_ONCE = 500;

async function deleteThese(operations: Operations, ids: readonly string[]): Promise<number> {
  let deleted = 0;
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const part = ids.slice(start, start + AT_ONCE);
    deleted += (await operations.deleteCaptured({ ids: part, key: null })).deleted;
  }
  return deleted;
}

/** What comes in meanwhile stays. */
async function deleteAll(
  operations: Operations,
  which: { readonly key: string | null; readonly box: string | null },
): Promise<number> {
  const newest = await operations.inbox({ ...which, query: '', limit: 1, before: null });
  const upTo = newest.messages[0]?.id ?? null;
  if (upTo === null) return 0;
  for (let deleted = 0; ; ) {
    const part = await operations.deleteCaptured({ ...which, ids: null, upTo });
    deleted += part.deleted;
    if (!part.more) return deleted;
  }
}
