import { Command } from 'commander';
import { MIN_PASSWORD } from '../domain/account.ts';
import type { UserView } from '../operations/accounts.ts';
import type { Operations } from '../operations/table.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { operationCommands } from './operation-command.ts';
import { withOperations } from './session.ts';
import { Exit, promptForSecret, readSecretFile } from './terminal.ts';

interface PasswordOptions extends CommonOptions {
  readonly stdin?: true;
}

/** What the first administrator is called where nobody says. */
const FIRST_NAME = 'admin';
const WHO = 'user (default: the administrator, if there is only one)';

/** `waybill admin …`: ways into the dashboard for the owner of the data directory. */
export function adminCommand(context: Context): Command {
  const admin = new Command('admin').description(
    'set-up links, passwords, second factors and passkeys of dashboard users, for the owner of the data directory',
  );
  const order = [
    resetPasswordCommand(context),
    'setup-link',
    resetSecondFactorCommand(context),
    'remove-passkeys',
  ];
  for (const child of operationCommands(context, { name: 'admin', order })) admin.addCommand(child);
  return admin;
}

function resetPasswordCommand(context: Context): Command {
  return command(
    'reset-password',
    "set a user's password and end their sessions; if nobody has a password yet, make the first administrator",
    [
      'waybill admin reset-password',
      'waybill admin reset-password ann',
      'pass show waybill | waybill admin reset-password ann --stdin',
    ],
  )
    .argument('[name]', WHO)
    .option('--stdin', 'read the password from standard input instead of asking for it')
    .action(async (name: string | undefined, options: PasswordOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const user = name ?? (await onlyAdministrator(operations)) ?? FIRST_NAME;
        const password = await readPassword(context, options, user);
        const view = await operations.resetPassword({ name: user, password });
        print(context, options, view, () => passwordSet(view));
      });
    });
}

function resetSecondFactorCommand(context: Context): Command {
  return command(
    'reset-second-factor',
    'let a user sign in by password alone, until they set up a second factor again',
    ['waybill admin reset-second-factor ann'],
  )
    .argument('[name]', WHO)
    .action(async (given: string | undefined, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const name = given ?? (await onlyAdministrator(operations));
        if (name === null) throw new Exit(1, 'There is no user with a password yet.');
        const view = await operations.resetSecondFactor({ name });
        print(context, options, view, () => `${name} now signs in by password alone.`);
      });
    });
}

/** The one administrator who has a password; null where nobody has one. Throws `Exit` where there are several. */
async function onlyAdministrator(operations: Operations): Promise<string | null> {
  const users = (await operations.users({})).filter(({ hasPassword }) => hasPassword);
  const [admin, ...others] = users.filter(({ role }) => role === 'admin');
  if (others.length === 0) return admin?.name ?? null;
  throw new Exit(
    2,
    `There are several administrators; name one of them: ${users.map(({ name }) => name).join(', ')}`,
  );
}

async function readPassword(
  { terminal }: Context,
  { stdin }: PasswordOptions,
  name: string,
): Promise<string> {
  if (stdin) return await readSecretFile('-', 'password');
  const instead = 'There is no terminal to ask on; give the password on standard input with --stdin.';
  const question = `New password for ${name}, at least ${MIN_PASSWORD} characters: `;
  const password = await promptForSecret(terminal, question, instead);
  if (password === (await promptForSecret(terminal, 'Repeat: ', instead))) return password;
  throw new Exit(1, 'The two do not match. Nothing was done.');
}

function passwordSet({ name, role, disabled, secondFactor, passkeys }: UserView): string {
  const notes = [
    `The password of ${name} (${role}) is set; earlier sessions have ended.`,
    ...(disabled ? [`${name} is disabled, and cannot sign in until an administrator changes that.`] : []),
    ...(secondFactor
      ? [`A code is still required. To remove it: waybill admin reset-second-factor ${name}`]
      : []),
    ...(passkeys > 0
      ? [`Passkeys still sign in (${passkeys}). To remove them: waybill admin remove-passkeys ${name}`]
      : []),
  ];
  return notes.join('\n');
}
