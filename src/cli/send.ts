import { type Command, Option } from 'commander';
import type { Verdict } from '../client/types.ts';
import { PRIORITIES } from '../domain/message.ts';
import { type Context, collect, needing, print, wholeNumber } from './context.ts';
import { type Draft, type DraftOptions, draftOf } from './draft.ts';
import { Exit } from './exit.ts';
import { messageText } from './message-text.ts';
import { localOutbox, needsUrl, type Outbox, remoteOutbox } from './outbox.ts';
import { connect, type RemoteOptions, remoteCommand } from './remote.ts';
import { withOperations } from './session.ts';
import { table } from './terminal.ts';

interface SendOptions extends RemoteOptions, DraftOptions {
  readonly idempotencyKey?: string;
  readonly dryRun?: true;
  readonly wait?: true | number;
}

const DEFAULT_WAIT_SECONDS = 60;
const MAX_WAIT_SECONDS = 86_400;

/** `waybill send`: one message from the command line. */
export function sendCommand(context: Context): Command {
  return remoteCommand('send', 'send a message', [
    "waybill send --from me@example.org --to you@example.net --subject Hello --text 'It works.' --wait",
    'df -h | waybill send --from me@example.org --to you@example.net --subject Disks',
    'waybill send --from me@example.org --to you@example.net --html - --attach offer.pdf < letter.html',
    'waybill send --url https://mail.example.net:8026 --key-file key --from me@example.org --to you@example.net --raw mail.eml',
  ])
    .option('--from <mailbox>', 'required: the sender, such as me@example.org or "Me <me@example.org>"')
    .option('--to <mailbox>', 'required: a recipient; may be given several times', collect)
    .hook('preAction', needing('from', 'to'))
    .option('--cc <mailbox>', 'recipient of a copy; may be given several times', collect)
    .option('--bcc <mailbox>', 'recipient nobody sees; may be given several times', collect)
    .option('--subject <text>', 'subject')
    .option(
      '--text <text>',
      'plain text; - for the standard input, which is also read where there is no body',
    )
    .option('--html <html>', 'HTML; - for the standard input')
    .option('--attach <file>', 'file to attach; may be given several times', collect)
    .option(
      '--header <line>',
      'header field, such as "Reply-To: me@example.org"; may be given several times',
      collect,
    )
    .option('--tag <tag>', 'word to find it by; may be given several times', collect)
    .addOption(
      new Option('--priority <name>', 'high goes first, bulk last (default: normal)').choices(PRIORITIES),
    )
    .option('--send-at <time>', 'not before then: 2026-11-21T08:00:00Z')
    .option('--raw <file>', 'send this finished MIME message as it is (with --url); - for the standard input')
    .option('--idempotency-key <key>', 'send nothing if that was sent under this key already (with --url)')
    .option('--dry-run', 'check it and show the way it would take; send nothing')
    .option(
      '--wait [seconds]',
      `wait until it is delivered or has failed (at most ${DEFAULT_WAIT_SECONDS} s unless told); status 1 if it is not delivered`,
      wholeNumber(1, MAX_WAIT_SECONDS),
    )
    .action(async (options: SendOptions) => {
      const client = await connect(options);
      if (client === null) refuseFarOnly(options);
      // What is wrong with the message is said before anything is opened.
      const draft = await draftOf(options, context.terminal);
      if (client !== null) return await send(remoteOutbox(client), draft, options, context);
      await withOperations(context, options, {}, async (operations, running) => {
        await send(localOutbox(operations, running, context.clock), draft, options, context);
      });
    });
}

/** Refuses what only the API of a server can do. */
function refuseFarOnly({ raw, idempotencyKey }: SendOptions): void {
  if (raw !== undefined) throw needsUrl('--raw');
  if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
}

async function send(outbox: Outbox, draft: Draft, options: SendOptions, context: Context): Promise<void> {
  if (options.dryRun) {
    const verdict = await outbox.check(draft);
    return print(context, options, verdict, () => verdictText(verdict));
  }
  if (options.wait !== undefined && outbox.idle !== null)
    throw new Exit(
      1,
      'Nothing was sent: --wait needs the server, which does not run. Start it with: waybill serve',
    );
  const sent = await outbox.send(draft, options.idempotencyKey);
  if (options.wait === undefined) {
    const message = outbox.idle === null ? sent.message : `${sent.message} ${outbox.idle}`;
    return print(context, options, { ...sent, message }, () => `${sent.id}\n${message}`);
  }
  const seconds = options.wait === true ? DEFAULT_WAIT_SECONDS : options.wait;
  const record = await outbox.wait(sent.id, seconds * 1000).catch((error: unknown) => {
    const message = `Accepted as ${sent.id}, but its end is not known: ${reasonOf(error)}`;
    print(context, options, { ...sent, message }, () => sent.id);
    throw new Exit(1, message);
  });
  print(context, options, record, () => messageText(record, context.terminal.columns()));
  if (record.status !== 'delivered') throw new Exit(1, `Not delivered: ${record.status}.`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** By what the copy would align: whether that then passes, the DNS alone can tell. */
function alignsText(alignment: Verdict['recipients'][number]['alignment']): string {
  if (alignment === undefined || alignment === null) return '-';
  const { verdict, dkim, spf } = alignment;
  if (verdict !== 'aligned') return verdict.replaceAll('_', ' ');
  if (dkim === 'aligned') return spf === 'aligned' ? 'by DKIM and SPF' : 'by DKIM';
  return 'by SPF alone';
}

function verdictText({ message, sizeBytes, recipients }: Verdict): string {
  const rows = recipients.map(({ address, type, relay, rule, alignment }) => [
    address,
    type,
    relay ?? 'none: it would wait',
    rule ?? 'default',
    alignsText(alignment),
  ]);
  const columns = ['RECIPIENT', 'TYPE', 'RELAY', 'RULE', 'ALIGNED'];
  const details = [...new Set(recipients.flatMap(({ alignment }) => alignment?.detail ?? []))];
  const told = details.length === 0 ? '' : `\n\n${details.join('\n')}`;
  return `${message} It would have ${sizeBytes} bytes.\n\n${table(columns, rows)}${told}`;
}
