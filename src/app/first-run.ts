import { passwordFault } from '../accounts/passwords.ts';
import type { Reception } from '../accounts/reception.ts';
import { linkPath, makeLink } from '../accounts/sign-in.ts';
import type { Fault } from '../config/fault.ts';
import { variable } from '../config/load.ts';
import { readError } from '../lib/error.ts';

/** The variable that sets the first password (contract §14), and the name it is for. */
const VARIABLE = 'WAYBILL_ADMIN_PASSWORD';
const FIRST_NAME = 'admin';

/** How the dashboard is to be claimed. */
export type FirstRun =
  /** Somebody has a password. */
  | { readonly kind: 'claimed' }
  /** By this path of the dashboard, which has a token in it. */
  | { readonly kind: 'link'; readonly path: string }
  /** The environment's password is unfit, or cannot be read. */
  | { readonly kind: 'faulty'; readonly fault: Fault };

/**
 * Sees to it that the dashboard can be claimed, by whoever started the service and by nobody else: sets the environment's
 * password where there is one and none is set yet, else makes a link. Rejects with `StoreError`.
 */
export async function prepareFirstRun(
  reception: Reception,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<FirstRun> {
  const { accounts, clock, passwords } = reception;
  const users = await accounts.users(clock.wall());
  if (users.some(({ passwordHash }) => passwordHash !== null)) return { kind: 'claimed' };
  const given = readVariable(environment);
  if (typeof given === 'object') return { kind: 'faulty', fault: given };
  if (given === undefined) return { kind: 'link', path: linkPath(await makeLink(reception, null)) };
  const rule = passwordFault(given, FIRST_NAME);
  if (rule !== null) return { kind: 'faulty', fault: faultOf(rule) };
  await accounts.claimFirst(FIRST_NAME, await passwords.hash(given), clock.wall());
  return { kind: 'claimed' };
}

function readVariable(environment: Readonly<Record<string, string | undefined>>): string | undefined | Fault {
  try {
    return variable(environment, VARIABLE);
  } catch (error) {
    return faultOf(`cannot be read: ${readError(error)}`);
  }
}

/** Never with the password itself. */
function faultOf(rule: string): Fault {
  return { key: VARIABLE, value: null, rule, source: 'environment' };
}
