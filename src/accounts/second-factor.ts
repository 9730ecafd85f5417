import type { User } from '../domain/account.ts';
import { hashSecret } from '../lib/id.ts';
import { AccountRefusal, attempt, type Reception, signedOut } from './reception.ts';
import { matchCode, newRecoveryCode, newTotpSecret, qrRows, totpUrl } from './secrets.ts';
import type { Found, Visit } from './sessions.ts';

/** The issuer of codes, as authenticator apps show it. */
const ISSUER = 'Waybill';
const RECOVERY_CODES = 10;

/** A second factor offered to a user. */
export interface OfferedFactor {
  /** Base32. */
  readonly secret: string;
  readonly url: string;
  /** Rows of a QR code, `1` for black. */
  readonly qr: readonly string[];
}

/** The secret of a user's second factor, in base32. Throws `AccountRefusal`. */
export function openFactor(reception: Reception, user: User): string {
  const secret = unseal(reception, user.secondFactor, user.name);
  if (secret !== null) return secret;
  throw new AccountRefusal(
    'second_factor_unreadable',
    `Codes cannot be checked: the secret key they are sealed under is not there. Use a recovery code, or run: waybill admin reset-second-factor ${user.name}`,
  );
}

/** Offers a second factor; nothing changes until it is confirmed in the same session. Rejects with `AccountRefusal`. */
export async function offerFactor(reception: Reception, { session, user }: Found): Promise<OfferedFactor> {
  const box = reception.box();
  if (box === null)
    throw new AccountRefusal(
      'second_factor_unreadable',
      'A second factor cannot be stored: the key for secrets (secrets.key_file) cannot be read.',
    );
  const secret = newTotpSecret(reception.random);
  const isKept = await reception.accounts.offerSecondFactor(session.hash, box.seal(secret, owner(user.name)));
  reception.sessions.refresh();
  if (!isKept) throw signedOut();
  const url = totpUrl(secret, ISSUER, user.name);
  return { secret, url, qr: qrRows(url) };
}

/**
 * Enables the offered second factor by a first code. Returns the recovery codes, once. Rejects with `AccountRefusal`.
 */
export async function takeUpFactor(
  reception: Reception,
  { session, user }: Found,
  code: string,
  visit: Visit,
): Promise<readonly string[]> {
  const { accounts, clock, random } = reception;
  const sealed = session.offered;
  const secret = unseal(reception, sealed, user.name);
  if (sealed === null || secret === null)
    throw new AccountRefusal('second_factor_missing', 'Begin anew: there is no second factor to confirm.');
  let step: number | null = null;
  const isRight = async () => {
    step = matchCode(secret, code.replace(/\s/g, ''), clock.wall());
    return step !== null;
  };
  await attempt(reception, { guess: 'code', account: user.name, user: user.name, visit }, isRight, {
    code: 'code_refused',
    message: 'That is not the code of now. Is the clock of the device right?',
  });
  const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(random));
  const recoveryHashes = codes.map(hashSecret);
  await accounts.putSecondFactor(user.name, { sealed, step: step ?? 0, recoveryHashes });
  reception.sessions.refresh();
  await reception.note(
    { action: 'changeSecondFactor', user: user.name, detail: { secondFactor: 'on' } },
    visit,
  );
  return codes;
}

/** Removes the user's second factor. Rejects with `AccountRefusal`. */
export async function giveUpFactor(reception: Reception, { user }: Found, visit: Visit): Promise<void> {
  if (!(await reception.accounts.removeSecondFactor(user.name)))
    throw new AccountRefusal('second_factor_missing', 'There is no second factor.');
  reception.sessions.refresh();
  await reception.note(
    { action: 'changeSecondFactor', user: user.name, detail: { secondFactor: 'off' } },
    visit,
  );
}

function unseal(reception: Reception, sealed: string | null, name: string): string | null {
  return sealed === null ? null : (reception.box()?.open(sealed, owner(name)) ?? null);
}

/** Binds a sealed second factor to its user: it cannot be passed off as another's. */
function owner(name: string): string {
  return `second factor of ${name}`;
}
