import { Command } from 'commander';
import type { CreatedKey } from '../control/operations.ts';
import { SCOPES, type Scope } from '../domain/key.ts';
import {
  type CommonOptions,
  type Context,
  collect,
  collectFrom,
  command,
  print,
  wholeNumber,
} from './context.ts';
import { expiryOf, keyTable, MAX_CONTENT_DAYS, MAX_RATE } from './keys-text.ts';
import { updateCommand } from './keys-update.ts';
import { withOperations } from './session.ts';

interface CreateOptions extends CommonOptions {
  readonly test?: true;
  readonly scope?: readonly Scope[];
  readonly rate?: number;
  readonly expires?: string;
  readonly cidr?: readonly string[];
  readonly senderDomain?: readonly string[];
  readonly contentDays?: number;
  readonly quiet?: true;
}

interface QuietOptions extends CommonOptions {
  readonly quiet?: true;
}

interface RevokeOptions extends CommonOptions {
  readonly cancelQueued?: true;
}

const DEFAULT_SCOPES: Scope[] = ['messages:send', 'messages:read'];

/** `waybill keys …`: the API keys. */
export function keysCommand(context: Context): Command {
  return new Command('keys')
    .description('API keys: create, list, update, revoke, rotate')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(rotateCommand(context));
}

function createCommand(context: Context): Command {
  return command('create', 'make an API key and show its secret, this once', [
    'waybill keys create shop',
    'waybill keys create tests --test --quiet',
    'waybill keys create monitor --scope messages:read --scope messages:read_all',
    'waybill keys create partner --expires 90d --cidr 192.0.2.0/24 --sender-domain shop.example',
  ])
    .argument('<name>', 'name to know it by')
    .option('--test', 'a test key: its mail is captured here and never leaves')
    .option('--scope <scope>', `one of ${SCOPES.join(', ')}; may be given several times`, collectFrom(SCOPES))
    .option('--rate <n>', 'requests a minute; 0 for no limit', wholeNumber(0, MAX_RATE))
    .option('--expires <when>', 'end it then: a time such as 2027-01-31T12:00:00Z, or in so many days: 90d')
    .option('--cidr <range>', 'accept it only from there; may be given several times', collect)
    .option('--sender-domain <domain>', 'let it send only from there; may be given several times', collect)
    .option(
      '--content-days <n>',
      "keep contents so many days after a message's end, 0 for not at all (default: retention.content_days)",
      wholeNumber(0, MAX_CONTENT_DAYS),
    )
    .option('--quiet', 'print the secret alone')
    .action(async (name: string, options: CreateOptions) => {
      const request = {
        name,
        test: options.test ?? false,
        scopes: [...(options.scope ?? DEFAULT_SCOPES)],
        rateLimit: options.rate ?? null,
        expiresAt: options.expires === undefined ? null : expiryOf(options.expires, context.clock),
        cidrs: [...(options.cidr ?? [])],
        senderDomains: [...(options.senderDomain ?? [])],
        contentDays: options.contentDays ?? null,
      };
      await withOperations(context, options, {}, async (operations) => {
        printSecret(context, options, await operations.createKey(request), '');
      });
    });
}

function listCommand(context: Context): Command {
  return command('list', 'show all API keys, never their secrets', [
    'waybill keys list',
    'waybill keys list --json',
  ]).action(async (options: CommonOptions) => {
    await withOperations(context, options, {}, async (operations) => {
      const keys = await operations.listKeys({});
      print(context, options, keys, () => keyTable(keys));
    });
  });
}

function revokeCommand(context: Context): Command {
  return command('revoke', 'end a key at once; what it has queued is still delivered', [
    'waybill keys revoke shop',
    'waybill keys revoke shop --cancel-queued',
  ])
    .argument('<key>', 'name or id')
    .option('--cancel-queued', 'cancel what it has queued; also of a key that is revoked already')
    .action(async (key: string, options: RevokeOptions) => {
      const cancelQueued = options.cancelQueued ?? false;
      await withOperations(context, options, {}, async (operations) => {
        const revoked = await operations.revokeKey({ key, cancelQueued });
        const cancelled = cancelQueued ? ` Messages cancelled: ${revoked.cancelled}.` : '';
        print(context, options, revoked, () => `Revoked ${revoked.name} (${revoked.prefix}…).${cancelled}`);
      });
    });
}

function rotateCommand(context: Context): Command {
  return command('rotate', 'give a key a new secret; the old one works for another 24 hours', [
    'waybill keys rotate shop',
  ])
    .argument('<key>', 'name or id')
    .option('--quiet', 'print the secret alone')
    .action(async (key: string, options: QuietOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const rotated = await operations.rotateKey({ key });
        const until = `\nThe old secret works until ${rotated.oldSecretUntil}; put the new one in its place before then.`;
        printSecret(context, options, rotated, until);
      });
    });
}

/** Prints a secret, and below it, unless it is wanted alone, that it is the key's, and `more`. */
function printSecret(context: Context, options: QuietOptions, created: CreatedKey, more: string): void {
  const { key, secret } = created;
  if (options.quiet) context.terminal.out(secret);
  else
    print(
      context,
      options,
      created,
      () => `${secret}\n\nThis is the secret of ${key.name}. It is not shown again.${more}`,
    );
}
