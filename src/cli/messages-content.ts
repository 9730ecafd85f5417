/** What takes a message's bytes: reading them, and sending them once more. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { readError } from '../lib/error.ts';
import { type Context, print } from './context.ts';
import { Exit } from './exit.ts';
import { needsUrl } from './outbox.ts';
import { connect, type RemoteOptions, remoteCommand, sentBy, withMessages } from './remote.ts';
import { withOperations } from './session.ts';
import { harmless } from './terminal.ts';

interface ContentOptions extends RemoteOptions {
  readonly output?: string;
}

interface ResendOptions extends RemoteOptions {
  readonly idempotencyKey?: string;
}

/** For its owner alone: it is mail. */
const FILE_MODE = 0o600;

/** `waybill messages content ID`: the message as it is sent. */
export function contentCommand(context: Context): Command {
  return remoteCommand('content', 'write a message as it is sent (RFC 822), while it is kept', [
    'waybill messages content msg_01k…',
    'waybill messages content msg_01k… --output mail.eml',
    'waybill messages content msg_01k… --url https://mail.example.net:8026 --key-file key   # needs messages:content',
  ])
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .option('--output <file>', 'write it there instead of to the standard output; must not exist yet')
    .action(async (id: string, options: ContentOptions) => {
      await withMessages(context, options, async (operations) => {
        const kept = await operations.messageContent({ id });
        const bytes = Buffer.from(kept.content, 'base64');
        const { output } = options;
        if (output !== undefined) {
          writeNew(output, bytes);
          const told = { id: kept.id, sizeBytes: kept.sizeBytes, file: output };
          print(context, options, told, () => `${output}: ${kept.sizeBytes} bytes.`);
        } else if (options.json) print(context, options, kept, () => '');
        else await show(bytes, context);
      });
    });
}

/** `waybill messages resend ID`: the same message to the same recipients, as a new one. */
export function resendCommand(context: Context): Command {
  return remoteCommand(
    'resend',
    'send a kept message once more, to all its recipients, as a new message; retry sends to failed ones only',
    ['waybill messages resend msg_01k…'],
  )
    .argument('<id>', "the message's id, or its Message-ID: '<…@…>'")
    .option('--idempotency-key <key>', 'send nothing if that was sent under this key already (with --url)')
    .action(async (id: string, options: ResendOptions) => {
      const { idempotencyKey } = options;
      const client = await connect(options);
      if (client !== null) {
        const sent = sentBy(await client.resend(id, { idempotencyKey }));
        return print(context, options, sent, () => `${sent.id}\n${sent.message}`);
      }
      if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
      await withOperations(context, options, {}, async (operations, running) => {
        const sent = await operations.resendMessage({ id });
        const note = running ? '' : ' The server does not run; delivery begins when it starts.';
        print(context, options, sent, () => `${sent.id}\nAccepted as a new message.${note}`);
      });
    });
}

/** A person sees text that cannot move the cursor; a file or a program gets the bytes. */
async function show(bytes: Buffer, { terminal }: Context): Promise<void> {
  if (terminal.columns() === null) await terminal.write(bytes);
  else terminal.out(harmless(bytes.toString().replaceAll('\r\n', '\n')));
}

function writeNew(path: string, bytes: Buffer): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx', mode: FILE_MODE });
  } catch (error) {
    throw new Exit(1, `Nothing was written: ${path} cannot be made: ${readError(error)}`);
  }
}
