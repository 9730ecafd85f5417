import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import type { Operations, StatusRecord } from '../control/operations.ts';
import type { Clock } from '../lib/clock.ts';
import { type CommonOptions, type Context, collect, command, print, wholeNumber } from './context.ts';
import { Exit } from './exit.ts';
import { messageText } from './message-text.ts';
import { withOperations } from './session.ts';

interface SendOptions extends CommonOptions {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly attach?: readonly string[];
  readonly wait?: true | number;
}

const DEFAULT_WAIT_SECONDS = 60;
const MAX_WAIT_SECONDS = 86_400;
const POLL_MS = 200;

/** `waybill send`: one message from the command line. */
export function sendCommand(context: Context): Command {
  return command('send', 'send a message', [
    "waybill send --from me@example.org --to you@example.net --subject Hello --text 'It works.' --wait",
    'waybill send --from me@example.org --to you@example.net --html "$(cat letter.html)" --attach offer.pdf',
  ])
    .requiredOption('--from <mailbox>', 'sender, such as me@example.org or "Me <me@example.org>"')
    .requiredOption('--to <mailbox>', 'recipient; may be given several times', collect)
    .option('--cc <mailbox>', 'recipient of a copy; may be given several times', collect)
    .option('--bcc <mailbox>', 'recipient nobody sees; may be given several times', collect)
    .option('--subject <text>', 'subject')
    .option('--text <text>', 'plain text')
    .option('--html <html>', 'HTML')
    .option('--attach <file>', 'file to attach; may be given several times', collect)
    .option(
      '--wait [seconds]',
      `wait until it is delivered or has failed (at most ${DEFAULT_WAIT_SECONDS} s unless told); status 1 if it is not delivered`,
      wholeNumber(1, MAX_WAIT_SECONDS),
    )
    .action(async (options: SendOptions) => {
      const message = messageOf(options);
      await withOperations(context, options, { create: true }, async (operations, running) => {
        if (options.wait !== undefined && !running)
          throw new Exit(
            1,
            'Nothing was sent: --wait needs the server, which does not run. Start it with: waybill serve',
          );
        const { id, message: said } = await operations.submit({ message });
        if (options.wait === undefined) {
          const note = running ? said : `${said} The server does not run; delivery begins when it starts.`;
          return print(context, options, { id, message: note }, () => `${id}\n${note}`);
        }
        const seconds = options.wait === true ? DEFAULT_WAIT_SECONDS : options.wait;
        const record = await waitForEnd(operations, id, seconds * 1000, context.clock);
        print(context, options, record, () => messageText(record));
        if (record.status !== 'delivered') throw new Exit(1, `Not delivered: ${record.status}.`);
      });
    });
}

/** The options as the API's JSON. */
function messageOf(options: SendOptions): unknown {
  const { from, to, cc, bcc, subject, text, html } = options;
  const attachments = (options.attach ?? []).map((path) => ({
    filename: basename(path),
    content: readAttachment(path).toString('base64'),
  }));
  return { from, to, cc, bcc, subject, text, html, attachments };
}

function readAttachment(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Exit(1, `Nothing was sent: ${path} cannot be read: ${String(error)}`);
  }
}

/** The message's record once it is final, or as it stands when the time is over. */
async function waitForEnd(
  operations: Operations,
  id: string,
  waitMs: number,
  clock: Clock,
): Promise<StatusRecord> {
  const deadline = clock.mono() + waitMs;
  for (;;) {
    const record = await operations.message({ id });
    const isOver = record.status === 'delivered' || record.status === 'failed' || clock.mono() >= deadline;
    if (isOver) return record;
    await clock.sleep(POLL_MS);
  }
}
