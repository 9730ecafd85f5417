import { Command } from 'commander';
import type { CreatedKey, KeyView } from '../control/operations.ts';
import { SCOPES, type Scope } from '../domain/key.ts';
import type { Clock } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import {
  type CommonOptions,
  type Context,
  collect,
  collectFrom,
  command,
  print,
  wholeNumber,
} from './context.ts';
import { withOperations } from './session.ts';
import { table } from './terminal.ts';

interface CreateOptions extends CommonOptions {
  readonly test?: true;
  readonly scope?: readonly Scope[];
  readonly rate?: number;
  readonly expires?: string;
  readonly cidr?: readonly string[];
  readonly senderDomain?: readonly string[];
  readonly quiet?: true;
}

interface QuietOptions extends CommonOptions {
  readonly quiet?: true;
}

const DEFAULT_SCOPES: Scope[] = ['messages:send', 'messages:read'];
const MAX_RATE = 10_000_000;
const DAYS = /^([1-9]\d{0,4})d$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** `waybill keys …`: the API keys. */
export function keysCommand(context: Context): Command {
  return new Command('keys')
    .description('API keys: create, list, revoke, rotate')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
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
      };
      await withOperations(context, options, { create: true }, async (operations) => {
        printCreated(context, options, await operations.createKey(request));
      });
    });
}

/** A number of days from now as a time; anything else as it is. */
function expiryOf(when: string, clock: Clock): string {
  const [, days] = DAYS.exec(when) ?? [];
  return days === undefined ? when : formatTimestamp(clock.wall() + Number(days) * DAY_MS);
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
  ])
    .argument('<key>', 'name or id')
    .action(async (key: string, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const revoked = await operations.revokeKey({ key });
        print(context, options, revoked, () => `Revoked ${revoked.name} (${revoked.prefix}…).`);
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
        printCreated(context, options, await operations.rotateKey({ key }));
      });
    });
}

function printCreated(context: Context, options: QuietOptions, created: CreatedKey): void {
  const { key, secret } = created;
  if (options.quiet) context.terminal.out(secret);
  else
    print(
      context,
      options,
      created,
      () => `${secret}\n\nThis is the secret of ${key.name}. It is not shown again.`,
    );
}

function keyTable(keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'There are no keys. Make one with: waybill keys create NAME';
  const rows = keys.map((key) => [
    key.name,
    `${key.prefix}…`,
    key.revokedAt === null ? key.mode : 'revoked',
    key.scopes.join(' '),
    key.rateLimit === null ? 'default' : String(key.rateLimit),
    key.createdAt,
    key.lastUsedAt ?? 'never',
    key.expiresAt ?? 'never',
    key.cidrs.length === 0 ? 'anywhere' : key.cidrs.join(' '),
    key.senderDomains.length === 0 ? 'any' : key.senderDomains.join(' '),
  ]);
  return table(
    ['NAME', 'KEY', 'STATE', 'SCOPES', 'RATE', 'CREATED', 'LAST USED', 'EXPIRES', 'USED FROM', 'SENDS AS'],
    rows,
  );
}
