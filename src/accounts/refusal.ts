/** Something about an account that was not done. The message is for whoever asked. */
export class AccountRefusal extends Error {
  readonly code: RefusalCode;
  /** After how long it may be tried again; null where waiting does not help. */
  readonly waitMs: number | null;
  constructor(code: RefusalCode, message: string, waitMs: number | null = null) {
    super(message);
    this.name = 'AccountRefusal';
    this.code = code;
    this.waitMs = waitMs;
  }
}

/**
 * - `sign_in_refused`: name and password do not go together.
 * - `code_refused`: not a code of the second factor, or used before.
 * - `password_refused`: the present password is wrong.
 * - `signed_out`: there is no session, or not one that goes so far.
 * - `user_disabled`: an administrator has disabled the user.
 * - `link_refused`: the link was used, has ended, or never was.
 * - `name_taken`: another user has the name.
 * - `password_unfit`: too short, too long, or the name itself.
 * - `sign_in_slowed`: too many tries; later.
 * - `sign_in_busy`: too many passwords are being checked; shortly.
 * - `second_factor_unreadable`: the key that opens it is not there.
 * - `second_factor_missing`: there is none to confirm or to remove.
 */
export type RefusalCode =
  | 'sign_in_refused'
  | 'code_refused'
  | 'password_refused'
  | 'signed_out'
  | 'user_disabled'
  | 'link_refused'
  | 'name_taken'
  | 'password_unfit'
  | 'sign_in_slowed'
  | 'sign_in_busy'
  | 'second_factor_unreadable'
  | 'second_factor_missing';

/** Nobody is signed in, or not far enough. */
export function signedOut(): AccountRefusal {
  return new AccountRefusal('signed_out', 'Sign in first; the session may have ended.');
}

/** Too many tries. */
export function slowed(waitMs: number): AccountRefusal {
  const seconds = Math.ceil(waitMs / 1000);
  const when = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new AccountRefusal('sign_in_slowed', `Too many tries from here. Try again in ${when}.`, waitMs);
}
