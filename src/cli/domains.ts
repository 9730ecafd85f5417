import { Command, Option } from 'commander';
import type { DomainDetail } from '../control/domain-operations.ts';
import type { Operations } from '../control/operations.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { addedText, checkedText, detailText, domainTable, removedText, rotatedText } from './domains-text.ts';
import { Exit } from './exit.ts';
import { withOperations } from './session.ts';
import { DEFAULT_COLUMNS } from './terminal.ts';

type Algorithm = 'rsa' | 'ed25519' | 'both';

interface AddOptions extends CommonOptions {
  readonly algorithm: Algorithm;
  readonly selector?: string;
}

interface RotateOptions extends CommonOptions {
  readonly algorithm?: Algorithm;
  readonly selector?: string;
  readonly now?: true;
}

const NAME = 'the domain, such as example.com; in any script';
const ALGORITHMS: readonly Algorithm[] = ['rsa', 'ed25519', 'both'];
const SELECTOR =
  "the keys' selector; with two algorithms the beginning, and r or e follows (default: made of the day)";

/** `waybill domains …`: the domains that mail is sent from, and the keys that sign it. */
export function domainsCommand(context: Context): Command {
  return new Command('domains')
    .description(
      'domains that mail is sent from, and their DKIM keys: add, list, show, check, rotate, remove',
    )
    .addCommand(addCommand(context))
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(checkCommand(context))
    .addCommand(rotateCommand(context))
    .addCommand(removeCommand(context));
}

function addCommand(context: Context): Command {
  const algorithm = new Option('--algorithm <name>', 'what to sign with').choices(ALGORITHMS).default('both');
  return command('add', 'register a domain, make its keys, and print the DNS records to publish', [
    'waybill domains add example.com',
    'waybill domains add example.com --algorithm rsa --selector news',
  ])
    .argument('<domain>', NAME)
    .addOption(algorithm)
    .option('--selector <name>', SELECTOR)
    .action(async (name: string, options: AddOptions) => {
      const request = { name, algorithm: options.algorithm, selector: options.selector ?? null };
      const act = (operations: Operations) => operations.addDomain(request);
      await withDetail(context, options, {}, act, addedText);
    });
}

function listCommand(context: Context): Command {
  return command('list', 'show all domains and what signs for them', ['waybill domains list']).action(
    async (options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const domains = await operations.domains({});
        print(context, options, domains, () => domainTable(domains, context.terminal.columns()));
      });
    },
  );
}

function showCommand(context: Context): Command {
  return command('show', "show a domain's keys, and the DNS records that it needs", [
    'waybill domains show example.com',
    "waybill domains show example.com --json | jq -r '.records[].zoneLine'",
  ])
    .argument('<domain>', NAME)
    .action(async (name: string, options: CommonOptions) => {
      await withDetail(context, options, {}, (operations) => operations.domain({ name }), detailText);
    });
}

function checkCommand(context: Context): Command {
  return command(
    'check',
    'look at what the DNS says of domains: DKIM, SPF, DMARC, MX, PTR, MTA-STS, TLS-RPT; new keys that can be seen sign from then on',
    ['waybill domains check', 'waybill domains check example.com --json'],
  )
    .argument('[domain]', 'the domain (default: all, at most 50)')
    .addHelpText('after', '\nExit status: 1 if anything fails, 0 if there are at most warnings.')
    .action(async (name: string | undefined, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const checked = await operations.checkDomains({ name: name ?? null });
        const columns = context.terminal.columns() ?? DEFAULT_COLUMNS;
        print(context, options, { domains: checked }, () => checkedText(checked, columns));
        if (checked.some(({ findings }) => findings.some(({ status }) => status === 'fail')))
          throw new Exit(1);
      });
    });
}

function rotateCommand(context: Context): Command {
  const algorithm = new Option('--algorithm <name>', 'what to sign with (default: as now)').choices(
    ALGORITHMS,
  );
  return command('rotate', 'make new keys, which sign once their records can be seen in the DNS', [
    'waybill domains rotate example.com',
    'waybill domains rotate example.com --now',
  ])
    .argument('<domain>', NAME)
    .addOption(algorithm)
    .option('--selector <name>', SELECTOR)
    .option('--now', 'sign with them at once: the old ones were lost or betrayed')
    .action(async (name: string, { algorithm: chosen, selector, now, ...options }: RotateOptions) => {
      const request = { name, algorithm: chosen ?? null, selector: selector ?? null, now: now === true };
      const act = (operations: Operations) => operations.rotateDomain(request);
      await withDetail(context, options, {}, act, rotatedText);
    });
}

function removeCommand(context: Context): Command {
  return command('remove', 'forget a domain and destroy its keys; its mail goes unsigned from then on', [
    'waybill domains remove example.com',
  ])
    .argument('<domain>', NAME)
    .action(async (name: string, options: CommonOptions) => {
      await withDetail(context, options, {}, (operations) => operations.removeDomain({ name }), removedText);
    });
}

/** Does something with a domain, and prints what it comes to. */
async function withDetail(
  context: Context,
  options: CommonOptions,
  session: Parameters<typeof withOperations>[2],
  act: (operations: Operations) => Promise<DomainDetail>,
  text: (detail: DomainDetail, columns: number | null) => string,
): Promise<void> {
  await withOperations(context, options, session, async (operations) => {
    const detail = await act(operations);
    print(context, options, detail, () => text(detail, context.terminal.columns()));
  });
}
