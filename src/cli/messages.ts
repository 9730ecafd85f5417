import { Command } from 'commander';
import type { MessagesPage, StatusRecord } from '../control/operations.ts';
import { MESSAGE_STATUSES, type MessageStatus } from '../domain/delivery.ts';
import { type CommonOptions, type Context, collectFrom, command, print, wholeNumber } from './context.ts';
import { withOperations } from './session.ts';
import { oneLine, table } from './terminal.ts';

interface ListOptions extends CommonOptions {
  readonly status?: readonly MessageStatus[];
  readonly limit: number;
  readonly before?: string;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;

/** `waybill messages …`: what became of the mail. */
export function messagesCommand(context: Context): Command {
  return new Command('messages')
    .description('messages: list, show')
    .addCommand(listCommand(context))
    .addCommand(showCommand(context));
}

function listCommand(context: Context): Command {
  return command('list', 'show messages, newest first', [
    'waybill messages list',
    'waybill messages list --status failed --status retrying --limit 100',
  ])
    .option(
      '--status <status>',
      `only those that are ${MESSAGE_STATUSES.join(', ')}; may be given several times`,
      collectFrom(MESSAGE_STATUSES),
    )
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option('--before <id>', 'go on below this message')
    .action(async (options: ListOptions) => {
      const { limit } = options;
      const request = { statuses: [...(options.status ?? [])], limit, before: options.before ?? null };
      await withOperations(context, options, {}, async (operations) => {
        const page = await operations.messages(request);
        print(context, options, page, () => pageText(page));
      });
    });
}

function showCommand(context: Context): Command {
  return command('show', 'show one message and what became of each recipient', [
    'waybill messages show msg_01k…',
  ])
    .argument('<id>', "the message's id")
    .action(async (id: string, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const record = await operations.message({ id });
        print(context, options, record, () => messageText(record));
      });
    });
}

function pageText({ messages, next }: MessagesPage): string {
  if (messages.length === 0) return 'There are no such messages.';
  const rows = messages.map((message) => [
    message.id,
    message.status,
    message.createdAt,
    message.from,
    [...message.to, ...message.cc, ...message.bcc].join(', '),
    message.subject,
  ]);
  const text = table(['ID', 'STATUS', 'CREATED', 'FROM', 'TO', 'SUBJECT'], rows);
  return next === null ? text : `${text}\n\nThere are more: waybill messages list --before ${next}`;
}

/** A message's record for people. */
export function messageText(record: StatusRecord): string {
  const { recipients, lastError, metadata, ...fields } = record;
  const named = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value]);
  const shown = { ...fields, ...Object.fromEntries(named), lastError: lastError?.message };
  const lines = Object.entries(shown)
    .filter(([, value]) => value !== undefined && String(value) !== '')
    .map(([name, value]) => `${`${name}:`.padEnd(19)}${oneLine(String(value))}`);
  const rows = recipients.map((recipient) => [
    recipient.address,
    recipient.status,
    recipient.outcome ?? '',
    recipient.relay ?? '',
    String(recipient.attempts),
    recipient.nextAttemptAt ?? '',
    recipient.lastReply ?? '',
  ]);
  const headings = ['RECIPIENT', 'STATUS', 'OUTCOME', 'RELAY', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST REPLY'];
  return `${lines.join('\n')}\n\n${table(headings, rows)}`;
}
