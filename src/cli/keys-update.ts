import type { Command } from 'commander';
import { SCOPES, type Scope } from '../domain/key.ts';
import type { Clock } from '../lib/clock.ts';
import type { RequestOf } from '../operations/table.ts';
import {
  type CommonOptions,
  type Context,
  collect,
  collectFrom,
  command,
  print,
  wholeNumber,
} from './context.ts';
import { Exit } from './exit.ts';
import { expiryOf, keyTable, MAX_CONTENT_DAYS, MAX_RATE } from './keys-text.ts';
import { withOperations } from './session.ts';

interface UpdateOptions extends CommonOptions {
  readonly name?: string;
  readonly scope?: readonly Scope[];
  readonly rate?: number | 'default';
  readonly expires?: string;
  readonly cidr?: readonly string[];
  readonly anywhere?: true;
  readonly senderDomain?: readonly string[];
  readonly anySender?: true;
  readonly contentDays?: number | 'default';
}

const USAGE = 2;

/** `waybill keys update KEY`. */
export function updateCommand(context: Context): Command {
  return command('update', 'change what a key may do; its secret stays', [
    'waybill keys update shop --rate 500 --expires 90d',
    'waybill keys update shop --rate default --expires never',
    'waybill keys update partner --cidr 192.0.2.0/24 --cidr 198.51.100.7 --any-sender',
  ])
    .argument('<key>', 'name or id')
    .option('--name <name>', 'another name to know it by')
    .option('--scope <scope>', `in the place of all it has: ${SCOPES.join(', ')}`, collectFrom(SCOPES))
    .option('--rate <n>', 'requests a minute; 0 for no limit, default for the setting', orDefault(MAX_RATE))
    .option('--expires <when>', 'end it then: a time, in so many days such as 90d, or never')
    .option('--cidr <range>', 'accept it only from there, in the place of all ranges it has', collect)
    .option('--anywhere', 'accept it from anywhere')
    .option('--sender-domain <domain>', 'let it send only from there, in the place of all it has', collect)
    .option('--any-sender', 'let it send from any domain')
    .option(
      '--content-days <n>',
      "keep contents so many days after a message's end, default for the setting",
      orDefault(MAX_CONTENT_DAYS),
    )
    .action(async (key: string, options: UpdateOptions) => {
      const request = requestOf(key, options, context.clock);
      await withOperations(context, options, {}, async (operations) => {
        const changed = await operations.updateKey(request);
        print(context, options, changed, () => keyTable([changed]));
      });
    });
}

function requestOf(key: string, options: UpdateOptions, clock: Clock): RequestOf<'updateKey'> {
  const { name, scope, rate, expires, contentDays } = options;
  const cidrs = listOf(options.cidr, options.anywhere, '--cidr', '--anywhere');
  const senderDomains = listOf(options.senderDomain, options.anySender, '--sender-domain', '--any-sender');
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scopes: [...scope] }),
    ...(rate === undefined ? {} : { rateLimit: rate === 'default' ? null : rate }),
    ...(expires === undefined ? {} : { expiresAt: expires === 'never' ? null : expiryOf(expires, clock) }),
    ...(cidrs === undefined ? {} : { cidrs }),
    ...(senderDomains === undefined ? {} : { senderDomains }),
    ...(contentDays === undefined ? {} : { contentDays: contentDays === 'default' ? null : contentDays }),
  };
  if (Object.keys(changes).length === 0)
    throw new Exit(USAGE, 'Say what is to change. See: waybill keys update --help');
  return { key, ...changes };
}

/** The list that was given; none of it where anything goes. */
function listOf(
  given: readonly string[] | undefined,
  any: true | undefined,
  option: string,
  anyOption: string,
): string[] | undefined {
  if (given !== undefined && any) throw new Exit(USAGE, `${option} and ${anyOption} do not go together.`);
  return any ? [] : given === undefined ? undefined : [...given];
}

function orDefault(max: number): (text: string) => number | 'default' {
  const number = wholeNumber(0, max);
  return (text) => (text === 'default' ? text : number(text));
}
