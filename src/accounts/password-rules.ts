import { MAX_PASSWORD, MIN_PASSWORD } from '../domain/account.ts';

/** What is wrong with a password that someone chose; null: nothing. `name` is the user's. */
export function passwordFault(password: string, name: string): string | null {
  const { length } = [...password];
  if (length < MIN_PASSWORD) return `must have at least ${MIN_PASSWORD} characters`;
  if (length > MAX_PASSWORD) return `may have at most ${MAX_PASSWORD} characters`;
  if (!password.isWellFormed() || /\p{Cc}/u.test(password)) return 'must have no control characters';
  if (new Set(password).size < 4) return 'must have at least 4 different characters';
  if (password.toLowerCase() === name) return 'must not be the name itself';
  return null;
}
